"""The policy as a whole: read from a text, judged, and turned into what a sandbox is made of."""

from __future__ import annotations

import os
import stat
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from codeact.audit import Audit, Sink
from codeact.audit.files import JsonLines
from codeact.files import checked
from codeact.limits import FUEL, Limits
from codeact.policy.settings import (
    Boundary,
    Credentials,
    Destination,
    Lifecycle,
    Network,
    Part,
    Record,
    Responsible,
    Results,
    Workspace,
)

if TYPE_CHECKING:
    from codeact.egress.tool import Credential
    from codeact.tools import Tool

LEAST_MEMORY = 64 * 1024 * 1024
"""Bytes below which the interpreter inside has no room to work."""

_PLACES = {
    "workspace": "workspace.bytes",
    "files": "workspace.files",
    "shown": "results.characters",
    "file_types": "results.file_types",
    "session_idle": "lifecycle.idle",
    "session_lifetime": "lifecycle.lifetime",
}
ELSEWHERE = _PLACES.keys()
"""Limits that have their own place in a policy."""

UNKNOWN = "there is no such setting; take it out, or look at its spelling"


class PolicyError(ValueError):
    """A policy cannot be used; the message names the setting, its value and what to do."""


class PolicyWarning(UserWarning):
    """A policy is weaker than the defaults, or overdue for review."""


class Policy(Part):
    """What a deployment grants.

    Attributes:
        policy: who answers for it.
        boundary: what stands between a program and the host.
        workspace: the files of a program.
        network: who may be talked to, by `http_tool`.
        credentials: what a program holds to prove who it is: nothing.
        limits: limits by name; see `codeact.Limits`. Those of files, results and sessions have their own places.
        results: what may leave.
        lifecycle: how long a session's world lives.
        audit: where it is put on record what happens.
        path: the file it was read from, not a setting of the text; None where it was not.
    """

    policy: Responsible
    boundary: Boundary = Boundary()
    workspace: Workspace = Workspace()
    network: Network = Network()
    credentials: Credentials = Credentials()
    limits: dict[str, Any] = Field(default_factory=dict)
    results: Results = Results()
    lifecycle: Lifecycle = Lifecycle()
    audit: Record = Record()
    path: Path | None = Field(default=None, exclude=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a policy from a TOML file.

        Raises:
            PolicyError: it cannot be used.
            OSError: the file cannot be read.

        Warns:
            PolicyWarning: it is weaker than the defaults, or overdue for review.
        """
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        return cls.parse(text, os.fspath(path), Path(path).resolve())

    @classmethod
    def parse(cls, text: str, name: str = "policy", path: Path | None = None) -> Self:
        """Read a policy from the text of a TOML document.

        Args:
            text: the document.
            name: what errors call it.
            path: the file it was read from: relative paths begin in its directory, or else in the current one.

        Raises:
            PolicyError: it cannot be used.

        Warns:
            PolicyWarning: it is weaker than the defaults, or overdue for review.
        """
        try:
            settings = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, and lists in lists in lists
            msg = f"{name}: no TOML: {error}"
            raise PolicyError(msg) from None
        if "path" in settings:
            msg = f"{name}: path: {UNKNOWN}"
            raise PolicyError(msg)
        try:
            made = cls.model_validate({**settings, "path": path})
        except UnicodeEncodeError as error:
            msg = f"{name}: no TOML: {error}"
            raise PolicyError(msg) from None
        except ValidationError as error:
            raise PolicyError("\n".join(f"{name}: {told}" for told in _told(error))) from None
        for weakness in made.weaknesses():
            warnings.warn(f"{name}: {weakness}", PolicyWarning, stacklevel=3)
        return made

    @property
    def directory(self) -> Path:
        """Where its relative paths begin."""
        return Path.cwd() if self.path is None else self.path.parent

    def read_inputs(self) -> dict[str, bytes]:
        """The inputs: contents by their paths in the workspace.

        Raises:
            PolicyError: one cannot be read, or is no file, or they are more than the workspace holds.
        """
        found = {}
        left = self.workspace.bytes
        for path, source in self.workspace.inputs.items():
            told = f"workspace.inputs: {path!r} cannot be read from {source!r}"
            file = self.directory / source
            try:
                if not stat.S_ISREG(file.stat().st_mode):  # others may have no end
                    msg = f"{told}: it is no file"
                    raise PolicyError(msg)
                with file.open("rb") as stream:
                    found[path] = stream.read(left + 1)
            except OSError as error:
                msg = f"{told}: {error.strerror}"
                raise PolicyError(msg) from None
            left -= len(found[path])
            if left < 0:
                msg = f"{told}: with it the inputs are more than workspace.bytes={self.workspace.bytes:,}"
                raise PolicyError(msg)
        return found

    def check(self) -> None:
        """See whether a sandbox can be made of it here, without making one.

        Raises:
            PolicyError: an input or the log cannot be opened, or an extra is missing that it needs.
        """
        self.read_inputs()
        if self.audit.file is not None:
            log = self.directory / self.audit.file
            place = log if log.exists() else log.parent
            if log.is_symlink() or log.is_dir() or not place.exists() or not os.access(place, os.W_OK):
                msg = f"audit.file={self.audit.file!r}: cannot be opened for writing in {log.parent}"
                raise PolicyError(msg)
        if self.network.destinations:
            try:
                import_module("codeact.egress.tool")
            except ImportError as error:
                msg = f"network.destinations: {error}"
                raise PolicyError(msg) from None

    def open_audit(self, *sinks: Sink) -> Audit:
        """Where the events of its sandboxes go: the policy's own file, if it names one, and more sinks.

        Raises:
            PolicyError: the file cannot be opened, or there is nowhere for them to go.
        """
        if self.audit.file is None and sinks:
            return Audit(sinks, content=self.audit.content)
        if self.audit.file is None:
            msg = "audit.file: the policy names none, and no other sink was given"
            raise PolicyError(msg)
        try:
            own = JsonLines(self.directory / self.audit.file, limit=self.audit.bytes, durable=self.audit.durable)
        except OSError as error:
            msg = f"audit.file={self.audit.file!r}: cannot be opened: {error.strerror}"
            raise PolicyError(msg) from None
        return Audit([own, *sinks], content=self.audit.content)

    def http_tool(self, credential: Credential | None = None, **settings: Any) -> Tool[..., Any]:
        """The tool that makes requests to the destinations named, and to no others; see `codeact.egress.http_tool`.

        Args:
            credential: gives the headers that a request by a rule with an account must carry.
            settings: more for `codeact.egress.http_tool`.

        Raises:
            MissingExtra: the extra `http` is not installed.
        """
        from codeact.egress import http_tool  # noqa: PLC0415 - an extra, and only where there is a network

        rules = [place.rule() for place in self.network.destinations]
        given = {"timeout": self.network.timeout, "max_bytes": self.network.max_bytes, **settings}
        return http_tool(rules, credential=credential, **given)

    @field_validator("limits")
    @classmethod
    def _known_limits(cls, given: dict[str, Any]) -> dict[str, Any]:
        known = [field.name for field in fields(Limits) if field.name not in ELSEWHERE]
        for name in given:
            if name not in known:
                msg = f"{name}: there is no such limit here; there are {', '.join(known)}"
                raise ValueError(msg)
        try:
            Limits(**given)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return given

    @model_validator(mode="after")
    def _possible(self) -> Self:
        limits = self.as_limits()
        checked("workspace.inputs", dict.fromkeys(self.workspace.inputs, b""), limits)
        if self.boundary.engine == "wasm" and limits.memory < LEAST_MEMORY:
            msg = f"limits.memory={limits.memory:,}: wasm needs {LEAST_MEMORY:,} bytes at the least"
            raise ValueError(msg)
        if limits.workspace > limits.memory:
            msg = f"workspace.bytes={limits.workspace:,}: more than limits.memory={limits.memory:,}, which holds it"
            raise ValueError(msg)
        if limits.call_timeout is not None and limits.call_timeout > limits.timeout:
            msg = f"limits.call_timeout={limits.call_timeout:g}: longer than limits.timeout={limits.timeout:g}"
            raise ValueError(msg)
        if self.lifecycle.idle > self.lifecycle.lifetime:
            msg = f"lifecycle.idle={self.lifecycle.idle:g}: longer than lifecycle.lifetime={self.lifecycle.lifetime:g}"
            raise ValueError(msg)
        return self

    def as_limits(self) -> Limits:
        """The limits of every run and session."""
        types = self.results.file_types
        return Limits(
            **self.limits,
            workspace=self.workspace.bytes,
            files=self.workspace.files,
            shown=self.results.characters,
            file_types=None if types is None else tuple(types),
            session_idle=self.lifecycle.idle,
            session_lifetime=self.lifecycle.lifetime,
        )

    def weaknesses(self) -> Iterator[str]:
        """What a reviewer should look at twice, a sentence each."""
        yield from self._weak_boundary()
        if self.policy.review < date.today():  # noqa: DTZ011 - the reviewer's own calendar
            yield f"policy.review={self.policy.review}: the review is overdue; look at it, and set a new day"
        mine, usual = self.as_limits(), Limits()
        fuel = FUEL.get(self.boundary.engine)
        if mine.fuel is not None and fuel is not None and mine.fuel > fuel:
            yield f"limits.fuel={mine.fuel:,}: more than the default of {fuel:,}"
        for field in fields(Limits):
            asked, default = getattr(mine, field.name), getattr(usual, field.name)
            if isinstance(asked, (int, float)) and isinstance(default, (int, float)) and asked > default:
                yield f"{_place(field.name)}={asked:,}: more than the default of {default:,}"
        for name, wide, strict in (
            ("timeout", self.network.timeout, Network().timeout),
            ("max_bytes", self.network.max_bytes, Network().max_bytes),
        ):
            if wide > strict:
                yield f"network.{name}={wide:,}: more than the default of {strict:,}"
        if self.audit.content:
            yield "audit.content=true puts arguments, results and programs on record, secrets in them too"
        yield from self._wide_destinations()

    def _weak_boundary(self) -> Iterator[str]:
        engine = self.boundary.engine
        if engine == "restricted":
            yield "boundary.engine='restricted' is no security boundary: it stops accidents only"
        elif engine != "wasm":
            yield f"boundary.engine={engine!r} is not codeact's own: whether it is a boundary is for its maker to say"

    def _wide_destinations(self) -> Iterator[str]:
        for place in self.network.destinations:
            if place.private:
                yield f"network.destinations: {place.origin} may lead to private addresses"
            if place.origin.lower().startswith("http://"):
                yield f"network.destinations: {place.origin} is not encrypted"
            changing = [name for name in place.methods if name not in {"GET", "HEAD", "OPTIONS"}]
            if changing:
                yield f"network.destinations: {', '.join(changing)} at {place.origin} may change something out there"


def _place(limit: str) -> str:
    return _PLACES.get(limit, f"limits.{limit}")


_INSTEAD = {
    "missing": "is missing, and a policy needs it",
    "date_type": "write the day without quotes, such as 2027-06-01",
    "date_from_datetime_inexact": "write the day alone, such as 2027-06-01",
}


def _told(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        text = _INSTEAD.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        if fault["type"] == "extra_forbidden":
            text = UNKNOWN + _near(str(fault["loc"][-1]))
        elif fault["type"] == "list_type" and place == "network.destinations":
            text = "write each of them as a table of its own, below [[network.destinations]]"
        elif fault["type"] == "string_type" and place.startswith("workspace.inputs"):
            text = 'put names with a dot into quotes, and give the path of a file: "terms.txt" = "terms.txt"'
        given = fault["input"]
        shown = f" (given: {given!r})" if isinstance(given, (str, int, float, bool)) else ""
        yield f"{place}: {text}{shown}" if place else text


def _near(name: str) -> str:
    parts = [field.annotation for field in Policy.model_fields.values()]
    inside = [part.model_fields for part in (*parts, Destination) if isinstance(part, type) and issubclass(part, Part)]
    known = {*Policy.model_fields, *(setting for fields in inside for setting in fields)} - {"path"}
    near = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
