"""What models of all providers share: connections that outlive no loop, plain JSON in and out, and one kind of error."""

from __future__ import annotations

import asyncio
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import cache
from importlib import import_module
from typing import Any, NoReturn, TypeVar

from codeact.extras import extra
from codeact.messages import Ending, ModelError, Reply, Request
from codeact.models import failures
from codeact.models.conversation import Ids, asked_ids, clean

CONNECT = 10.0
"""Seconds that reaching a provider may take."""

Kind = TypeVar("Kind")


class MalformedError(ValueError):
    """An answer is not what its provider's documents say."""


def load(name: str) -> Any:
    """The module of a provider's client.

    Raises:
        MissingExtra: the extra of the same name is not installed.
    """
    with extra(name, f"codeact.models.{name}"):
        return import_module(name)


def refuse_keyless(variable: str) -> NoReturn:
    """Say that there is no credential, before the first request would fail for it.

    Args:
        variable: of the environment, in which the provider's client looks for one.

    Raises:
        ValueError: always.
    """
    msg = f"no credential was found: set {variable}, or give api_key=, client= or base_url="
    raise ValueError(msg)


def connector(sdk: Any, timeout: float) -> Callable[[], Any]:
    """Makes HTTP clients, each for one request.

    Connections belong to the event loop that opened them: kept ones would be broken in the next `asyncio.run`, left
    open by the last, and closed by loops of other threads. A host that wants them kept passes a client of its own, and
    closes it.
    """
    limit = sdk.Timeout(timeout, connect=CONNECT)
    return lambda: sdk.DefaultAsyncHttpxClient(verify=_trusted(), timeout=limit)


@cache
def _trusted() -> Any:
    """The certificates that are trusted; reading them is all that makes an HTTP client slow to make."""
    return import_module("httpx2").create_ssl_context()


def member(of: Mapping[str, Any], name: str, kind: type[Kind]) -> Kind:
    """What an answer must have.

    Raises:
        MalformedError: it has not, or it is something else.
    """
    found = of.get(name)
    if not isinstance(found, kind):
        msg = f"its answer has no {name!r} that could be read"
        raise MalformedError(msg)
    return found


def ended(endings: Mapping[str, Ending], told: object) -> Ending:
    """Why a model stopped, from its provider's word for it."""
    return endings.get(told, "other") if isinstance(told, str) else "other"


def count(of: object, *names: str) -> int:
    """The sum of counters, none of which need be there."""
    if not isinstance(of, dict):
        return 0
    return sum(found for name in names if type(found := of.get(name)) is int and found > 0)


class ProviderModel(ABC):
    """A model behind a provider's own client; what differs between providers is in its subclasses."""

    def __init__(  # noqa: PLR0913 - each is a setting of its own, by name
        self,
        name: str,
        *,
        sdk: Any,
        client: Any,
        connect: Callable[[], Any] | None,
        stream: bool,
        timeout: float,
        options: Mapping[str, Any] | None,
    ) -> None:
        if not inspect.iscoroutinefunction(getattr(client, "close", None)):
            msg = f"client={type(client).__name__}: give an async client, such as {sdk.__name__}.{sdk.AsyncClient.__name__}"
            raise TypeError(msg)
        if not timeout > 0:
            msg = f"timeout={timeout!r}: give the seconds that a reply may take, more than 0"
            raise ValueError(msg)
        self._name = name
        self._sdk = sdk
        self._provider = f"{client.base_url.host}:{port}" if (port := client.base_url.port) else client.base_url.host
        # Whoever runs the loop decides what is tried again, and shows it; a client that does so too would multiply it.
        self._client = client.with_options(max_retries=0)
        self._connect = connect
        self._stream = stream
        self._timeout = timeout
        self._options = dict(options or {})

    @property
    def name(self) -> str:
        """What the provider calls it."""
        return self._name

    @property
    @abstractmethod
    def has_tools(self) -> bool:
        """Whether it asks for programs by calling `run_python`."""

    async def complete(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The next reply.

        Args:
            request: the conversation.
            on_text: is given each piece of the reply's text as it arrives, or the whole where nothing is streamed. A
                reply that breaks off has given pieces already.

        Raises:
            ModelError: there is none, and why.
            ValueError: the conversation does not begin and end with what the host says.
        """
        parameters = self._parameters(request) | self._options
        payload: Any = clean({name: value for name, value in parameters.items() if value is not None})
        try:
            async with asyncio.timeout(self._timeout) as scope:
                if self._stream:
                    async with aclosing(self._events(payload)) as events:
                        answer = await self._assembled(events, on_text)
                else:
                    answer = await self._whole(payload)
            reply = self._reply(answer, Ids(asked_ids(request)))
        except MalformedError as error:
            raise failures.broken(self._provider, error, self._secrets()) from None
        except TimeoutError:
            if not scope.expired():  # it is another's, such as of `on_text`
                raise
            raise failures.broken(self._provider, f"no whole reply within {self._timeout:g} s") from None
        if not self._stream and reply.text:
            on_text(reply.text)
        return reply

    @abstractmethod
    def _parameters(self, request: Request) -> dict[str, Any]:
        """A conversation as the arguments of the client's method."""

    @abstractmethod
    def _create(self, client: Any, payload: dict[str, Any]) -> Any:
        """The request, to be awaited."""

    @abstractmethod
    async def _assembled(
        self, events: AsyncGenerator[dict[str, Any], None], on_text: Callable[[str], None]
    ) -> dict[str, Any]:
        """What a stream tells, as the answer that would have come in one piece."""

    @abstractmethod
    def _reply(self, answer: dict[str, Any], ids: Ids) -> Reply:
        """An answer, read."""

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[Any, None]:
        """A client for one request: the host's own, or one whose connection ends with it."""
        if self._connect is None:
            yield self._client
            return
        async with self._connect() as http:
            yield self._client.with_options(http_client=http)

    async def _whole(self, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            async with self._connected() as client:
                return _plain(await self._create(client, payload))
        except Exception as error:  # noqa: BLE001 - clients let through whatever a body makes them raise
            failure = self._failure(error)
        raise failure

    async def _events(self, payload: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        try:
            async with self._connected() as client, await self._create(client, payload | {"stream": True}) as stream:
                # To its end, even where the reply is whole before: only then can a connection be used again.
                async for event in stream:
                    yield _plain(event)
        except Exception as error:  # noqa: BLE001 - as above; what is done with an event is not in here
            failure = self._failure(error)
        else:
            return
        raise failure

    def _failure(self, error: Any) -> ModelError:
        """What a client raised, as our own error. It is not chained: a request in it holds the credential."""
        sdk, provider, secrets = self._sdk, self._provider, self._secrets()
        transport_errors = import_module("httpx2")
        if isinstance(error, sdk.APIStatusError):
            return failures.from_status(
                error.status_code, error.response.headers, error.body, provider=provider, secrets=secrets
            )
        if isinstance(error, sdk.APITimeoutError):
            return failures.broken(provider, "no answer in time")
        if isinstance(error, sdk.APIConnectionError):
            cause = error.__cause__ or error
            failure = failures.broken(provider, f"cannot be reached: {type(cause).__name__}: {cause}", secrets)
            # A URL or header that cannot be sent will not be better later.
            failure.passing = not isinstance(
                cause, transport_errors.UnsupportedProtocol | transport_errors.LocalProtocolError
            )
            return failure
        if type(error) is sdk.APIError and error.body is not None:  # one that arrives within a stream
            return failures.from_status(200, {}, {"error": error.body}, provider=provider, secrets=secrets)
        if isinstance(error, transport_errors.HTTPError | transport_errors.StreamError | OSError):
            return failures.broken(provider, f"the connection broke: {type(error).__name__}: {error}", secrets)
        if isinstance(error, MalformedError):
            return failures.broken(provider, error, secrets)
        if isinstance(
            error, json.JSONDecodeError | UnicodeDecodeError | RecursionError | sdk.APIResponseValidationError
        ):
            return failures.broken(provider, f"its answer is not JSON that could be read: {error}", secrets)
        return ModelError(failures.shortened(f"{provider}: {type(error).__name__}: {error}", secrets), passing=False)

    def _secrets(self) -> list[str]:
        found = (getattr(self._client, name, None) for name in ("api_key", "auth_token"))
        return [secret.strip() for secret in found if isinstance(secret, str)]


def _plain(value: Any) -> dict[str, Any]:
    """What a client made of JSON, as the JSON that it was."""
    found = value.to_dict(warnings=False) if hasattr(value, "to_dict") else value
    if not isinstance(found, dict):
        msg = "its answer is not a JSON object"
        raise MalformedError(msg)
    return found
