"""What the programs of one run may ask for: tools to call, and actions to propose."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codeact import excerpts
from codeact.actions import Action, Actions, Proposed
from codeact.engines import Refusal
from codeact.limits import DEEPEST, Limits
from codeact.proposals import Proposal, canonical
from codeact.renderings import digest_of_text
from codeact.tools import BadArguments, Tool, Toolset
from codeact.values import encode
from codeact.work import Work, told
from wasm_runtime.guest.names import ACTIONS, unknown_action, unknown_tool

if TYPE_CHECKING:
    from codeact.catalogue import Catalogue


class Offer:
    """The tools and actions of one run, and what has been proposed.

    It is asked on the guest's thread alone.
    """

    def __init__(self, tools: Toolset, actions: Actions, limits: Limits, catalogue: Catalogue | None = None) -> None:
        self._tools = tools
        self._actions = actions
        self._limits = limits
        self._catalogue = catalogue
        self._proposals: dict[str, Proposal] = {}
        self._size = 0

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What has been proposed so far, in order."""
        return tuple(self._proposals.copy().values())

    def work(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int) -> Work | Refusal:
        """What a call asks for, or why it is refused.

        Args:
            name: the tool, or `actions.` and the action.
            args: positional arguments, plain values.
            kwargs: keyword arguments, plain values.
            line: the program's line that calls; 0 where that is not known.
        """
        asked = self._asked(name)
        if isinstance(asked, Refusal):
            return asked
        try:
            if isinstance(asked, Action):
                arguments = asked.arguments(args, kwargs, depth=self._limits.value_depth, size=self._limits.value_bytes)
                return self._proposing(asked, arguments, line)
            bound_args, bound_kwargs = asked.bind(args, kwargs)
        except BadArguments as error:
            return Refusal("TypeError", str(error))
        except Exception as error:  # noqa: BLE001 - a validator of the host's own failed
            return Refusal("TypeError", f"{name}(): {told(error)}")
        function = partial(asked.function, *bound_args, **bound_kwargs)
        return Work(asked, function, lambda: excerpts.call(asked.name, args, kwargs))

    def _asked(self, name: str) -> Tool[..., Any] | Action[..., Any] | Refusal:
        if name.startswith(ACTIONS) and self._actions:
            found: Tool[..., Any] | Action[..., Any] | None = self._actions.get(name.removeprefix(ACTIONS))
        else:
            found = self._tools.get(name)
        return found or Refusal("AttributeError", self._unknown(name))

    def _unknown(self, name: str) -> str:
        if self._catalogue is not None:
            return self._catalogue.unknown(name)
        if name.startswith(ACTIONS) and self._actions:
            return unknown_action(name.removeprefix(ACTIONS), self._actions, self._tools)
        return unknown_tool(name, self._tools, self._actions)

    def _proposing(self, action: Action[..., Any], arguments: dict[str, object], line: int) -> Work | Refusal:
        """What puts a proposal on record; refused where all of them together would be more than a value may hold."""
        text = canonical(action.name, arguments)
        digest, most = digest_of_text(text), self._limits.value_bytes
        size = max(
            len(text), len(encode(arguments, DEEPEST))
        )  # zeros at the end of a Decimal are in what is held alone
        if digest not in self._proposals and self._size + size > most:
            msg = f"{action.name}(): the proposals of this program are larger than the limit value_bytes={most:,}"
            return Refusal("ToolError", msg)

        def propose() -> Proposed:
            proposal = self._proposals.get(digest)
            if proposal is None:
                seq = len(self._proposals) + 1
                proposal = Proposal(seq, action.name, MappingProxyType(arguments), digest, line or None)
                self._proposals[digest] = proposal
                self._size += size
            return Proposed(proposal.seq)

        return Work(action.inside, propose, lambda: f"{ACTIONS}{action.name}")
