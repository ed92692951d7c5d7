"""Finding tools among many: an index of what they say of themselves, and what programs ask it by.

The ranking is BM25, as SQLite's FTS5 has it. That comes with Python, and takes a few milliseconds to import and some fifty to
index a thousand tools.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Interval

from codeact.actions import Action, Actions
from codeact.declarations import Declarations, documentation, faces
from codeact.engines import Face
from codeact.notation import Notation
from codeact.renderings import visible
from codeact.tools import Granted, Tool, Toolset, tool
from wasm_runtime.guest.names import ACTIONS, explained, meant, near, shortened, unknown_action, unknown_tool

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Catalogue", "Found"]

FULL = 9_000
"""Characters of signatures, documentation and records that every request to a model may carry: as stubs they are some 12,000,
thirty tools with a record each, 3,000 tokens. With more there is a line for each tool, which is less than half of that, and a
task takes a turn more, to ask for the rest. In tokens both come to the same at a dozen tools (five turns, with a cache for
prompts or without); the limit is higher because that turn takes seconds, and a model that does without it guesses what is in
a record."""

QUERY = 1_000
"""Characters of a query."""

DOC = 4_000
"""Characters of a tool's documentation that are searched."""

SIGNATURE, SUMMARY = 300, 160
"""Characters of a tool's signature, and of the first line of its documentation, where a line stands for it."""

NAMES = 4_000
"""Characters of names that stand for all: a thousand tokens, to find one's way. What is not there is found by searching."""

FITTING = 3
"""Tools that are named to a program that asked for one that is not there."""

MOST = 50
"""Tools that one search gives."""

_FINDS = f"""\
Find tools and actions by words of what they do, their names or their parameters; those that fit best come first.

At most {MOST} of them; where nothing fits, an error says so."""

_TELLS = "Tell all there is to know of a tool or an action: how it is called, what it does, what it takes and gives."

_WEIGHTS = (4.0, 2.0, 1.0, 1.0)
"""What a word counts for in the name, the first line, the rest, and the names of parameters."""

# Nobody searches while the process forks, so in the child the index is whole and the lock is free.
_turn = threading.Lock()
os.register_at_fork(before=_turn.acquire, after_in_parent=_turn.release, after_in_child=_turn.release)

Member = Tool[..., Any] | Action[..., Any]


@dataclass(frozen=True, slots=True)
class Offered:
    """What the programs of a sandbox are offered.

    Attributes:
        tools: the tools; where there are many, with those that find the others.
        faces: what programs see of them and of the actions.
        catalogue: finds them; None where there are not so many that it takes one.
    """

    tools: Toolset
    faces: tuple[Face, ...]
    catalogue: Catalogue | None


def offered(tools: Toolset, actions: Actions) -> Offered:
    """What programs are offered of a host's tools and actions; see `FULL`.

    Raises:
        ValueError: there are many, and no names are left for what finds them.
    """
    tools = without_catalogue(tools)
    seen: list[Face] = []
    records: dict[str, None] = {}
    told = 0
    for face in faces(tools, actions):
        seen.append(face)
        told += len(face.signature) + len(face.doc) + sum(len(each) for each in face.records if each not in records)
        records.update(dict.fromkeys(face.records))
        if told > FULL:
            catalogue = Catalogue(tools, actions)
            return Offered(Toolset({**catalogue.tools, **tools}), catalogue.faces, catalogue)
    return Offered(tools, tuple(seen), None)


@dataclass(frozen=True, slots=True)
class Found:
    """A tool or an action that fits a query.

    Attributes:
        name: its name.
        line: `tools.get_refunds(customer_id: str) -> list[Refund]  # Refunds of a customer, latest first.`
        kind: what it is.
    """

    name: str
    line: str
    kind: Literal["tool", "action"]


class Catalogue:
    """An index of tools and actions, which may be used from many threads. It is made at the first search."""

    def __init__(self, tools: Granted, actions: Granted = ()) -> None:
        """Take what is to be found.

        Args:
            tools: what a `Sandbox` takes as tools, or its own `tools`; what programs search a catalogue by is left out.
            actions: what it takes as actions, or its own `actions`.
        """
        self._tools = without_catalogue(tools if isinstance(tools, Toolset) else Toolset(tools))
        self._actions = actions if isinstance(actions, Actions) else Actions(actions)
        taken = self._tools.keys() & {"search", "describe"}
        self._search, self._describe = ("search_tools", "describe_tool") if taken else ("search", "describe")

    def __repr__(self) -> str:
        return f"<Catalogue of {self.size}>"

    @cached_property
    def faces(self) -> tuple[Face, ...]:
        """What programs see: names, and what tells of them."""
        own = (replace(face, describes=face.name == self._describe) for face in faces(self.tools, Actions()))
        tools = (_name_alone(member, member.name) for member in self._tools.values())
        actions = (_name_alone(member.inside, f"{ACTIONS}{member.name}") for member in self._actions.values())
        return (*own, *tools, *actions)

    @cached_property
    def overview(self) -> str:
        """What there is, in not many words: some names, and how to find the others."""
        names = [*(f"tools.{name}" for name in self._tools), *(f"{ACTIONS}{name}" for name in self._actions)]
        return f"{self.size}: {self.asked}. Some names, by their first words:\n\n{_grouped(names)}"

    @property
    def asked(self) -> str:
        """How programs ask it, in words."""
        finds = f'tools.{self._search}("refund policy") finds what there is, and ' * can_search()
        return f'{finds}tools.{self._describe}("name") tells how it is called'

    @property
    def size(self) -> str:
        """How much there is, in words."""
        counted = ((len(self._tools), "tool"), (len(self._actions), "action"))
        return " and ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counted if count) or "no tools"

    @cached_property
    def tools(self) -> Toolset:
        """What programs ask it by: `search` and `describe`.

        Where the host has given one of those names to a tool, they are `search_tools` and `describe_tool`. Where this
        Python's SQLite cannot search, there is no `search`.

        Raises:
            ValueError: the host has tools of all these names.
        """
        taken = self._tools.keys() & {self._search, self._describe}
        if taken:
            msg = (
                f"tools: {' and '.join(sorted(map(repr, taken)))} and 'search' or 'describe' are what programs find tools by where there"
                ' are many; give one of yours another name: {"find_orders": search, …}'
            )
            raise ValueError(msg)
        search = [tool(name=self._search, doc=_FINDS)(self.search)] if can_search() else []
        return Toolset([*search, tool(name=self._describe, doc=_TELLS)(self.describe)])

    def search(self, query: str, limit: Annotated[int, Interval(ge=1, le=MOST)] = 10) -> list[Found]:
        """The tools and actions that fit some words best, best first, and in the host's order where they fit alike.

        Args:
            query: words of what they do, of their names or of their parameters.
            limit: how many, at most.

        Raises:
            LookupError: nothing fits.
            ValueError: there is no word in the query, or too much of it.
            RuntimeError: this Python's SQLite cannot search.
        """
        if not can_search():
            msg = "this Python's SQLite has no FTS5, which tools are searched by; names and describe are there"
            raise RuntimeError(msg)
        if len(query) > QUERY:
            msg = f"the query has {len(query):,} characters, and may have {QUERY:,}; a few words are enough"
            raise ValueError(msg)
        if not words(query):
            msg = f'there is no word in the query {query!r:.80}; say in a few what you look for: tools.{self._search}("refund policy")'
            raise ValueError(msg)
        found = self._ranked(query, limit)
        if not found:
            msg = f"of {self.size}, none has a word of {shortened(query)!r}; try other words for it, or list({'tools' if self._tools else 'actions'})"
            raise LookupError(msg)
        return found

    def describe(self, name: str) -> str:
        """All there is to say of a tool or an action, as `help` does inside; of an empty name, what there is.

        Args:
            name: its name, with or without `tools.` or `actions.` before it.

        Raises:
            LookupError: there is none of that name; it says which fit best.
        """
        if not name:
            return self.overview
        member = self._member(name)
        if member is None:
            raise LookupError(self.unknown(name))
        with _turn:
            face = self._declarations.face(member.inside if isinstance(member, Action) else member)
        return explained([(face.signature, face.doc, face.records)])

    def unknown(self, name: str) -> str:
        """What to say of a name that nothing has: those that are like it, and what fits its words best.

        Args:
            name: the tool's, or `actions.` and the action's.
        """
        bare = name.removeprefix(ACTIONS)
        if bare == name and bare in self._actions:
            return unknown_tool(bare, self._tools, self._actions)
        if bare != name and bare in self._tools:
            return unknown_action(bare, self._actions, self._tools)
        noun, known = ("tool", list(self._tools)) if bare == name else ("action", list(self._actions))
        question = meant(near(bare, known))
        return f"there is no {noun} {shortened(bare)!r}; {f'{question} ' * bool(question)}{self._fitting(bare)}"

    def _fitting(self, name: str) -> str:
        ask = f'tools.{self._search}("…") finds what there is'
        found = self._ranked(name[:QUERY], FITTING) if can_search() else []
        if not found:
            return ask if can_search() else f"list(tools) gives all names, of {self.size}"
        return "\n".join([f"{ask}, and these fit best:", *(f"  {each.line}" for each in found)])

    def _member(self, name: str) -> Member | None:
        if name.startswith(ACTIONS):
            return self._actions.get(name.removeprefix(ACTIONS))
        bare = name.removeprefix("tools.")
        return self._tools.get(bare) or self._actions.get(bare) or self.tools.get(bare)

    @cached_property
    def _members(self) -> tuple[Member, ...]:
        return (*self._tools.values(), *self._actions.values())

    @cached_property
    def _declarations(self) -> Declarations:
        return Declarations([*self._tools.values(), *self._actions.inside.values(), *self.tools.values()], Notation())

    def _ranked(self, query: str, limit: int) -> list[Found]:
        wanted = list(dict.fromkeys(words(query)))
        with _turn:
            for mark in ("", "*"):  # words as they are, or else what begins with one of them
                asked = " OR ".join(f'"{word}"{mark}' for word in wanted)
                places = self._index.execute(_BEST, (asked, *_WEIGHTS, limit)).fetchall() if wanted else []
                if places:
                    break
        return [_found(self._members[place]) for (place,) in places]

    @cached_property
    def _index(self) -> sqlite3.Connection:
        import sqlite3  # noqa: PLC0415 - only where there are many tools

        index = sqlite3.connect(":memory:", check_same_thread=False)
        index.execute(
            "CREATE VIRTUAL TABLE members USING fts5(name, summary, rest, parameters, tokenize='porter unicode61')"
        )
        rows = ((place, *_searched(member)) for place, member in enumerate(self._members))
        index.executemany("INSERT INTO members (rowid, name, summary, rest, parameters) VALUES (?, ?, ?, ?, ?)", rows)
        index.commit()
        weakref.finalize(self, index.close)
        return index


_BEST = "SELECT rowid FROM members WHERE members MATCH ? ORDER BY bm25(members, ?, ?, ?, ?), rowid LIMIT ?"


@cache
def can_search() -> bool:
    """Whether this Python's SQLite has what a catalogue is searched by. Nearly all have."""
    import sqlite3  # noqa: PLC0415 - as above

    index = sqlite3.connect(":memory:")
    try:
        index.execute("CREATE VIRTUAL TABLE members USING fts5(name)")
    except sqlite3.OperationalError:
        return False
    finally:
        index.close()
    return True


def without_catalogue(tools: Toolset) -> Toolset:
    """Those of the host: without what programs search some sandbox's catalogue by."""
    own = {
        name: each
        for name, each in tools.items()
        if not isinstance(getattr(each.function, "__self__", None), Catalogue)
    }
    return tools if len(own) == len(tools) else Toolset(own)


def line_of(member: Member) -> str:
    """A line that stands for a tool or an action. Whatever it says of itself, it is one line, and not a long one."""
    home = ACTIONS if isinstance(member, Action) else "tools."
    signature = member.signature_line
    bare = signature.removeprefix("async ")
    written = f"{'async ' * (bare != signature)}{home}{bare}"
    summary = _one_line(_summary(member.doc), SUMMARY)
    return _one_line(written, SIGNATURE) + f"  # {summary}" * bool(summary)


def _found(member: Member) -> Found:
    return Found(member.name, line_of(member), "action" if isinstance(member, Action) else "tool")


def _name_alone(member: Tool[..., Any], name: str) -> Face:
    return Face(name, f"{'async ' * member.is_async}{member.name}(…)", "", member.is_async)


def _grouped(names: list[str]) -> str:
    """Names in lines, those together that begin with the same word, and as many of each as there is room for."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault(tuple(words(name)[:2]), []).append(name)
    alone = [name for group in groups.values() if len(group) == 1 for name in group]
    parts = sorted((group for group in groups.values() if len(group) > 1), key=len, reverse=True)
    parts += [alone] * bool(alone)
    shown = max(map(len, parts))
    while len(text := "\n".join(_part(part, shown) for part in parts)) > NAMES and (shown > 1 or len(parts) > 1):
        if shown > 1:
            shown = shown * 3 // 4
        else:
            parts.pop()
    left = len(names) - sum(map(len, parts))
    return f"{text}\nand {left:,} more" if left else text


def _part(names: list[str], shown: int) -> str:
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return f"{', '.join(map(shortened, names[:shown]))}{more}"


def _summary(doc: str) -> str:
    return next(iter(doc[:DOC].strip().splitlines()), "").strip()


def _one_line(text: str, most: int) -> str:
    """The beginning of a text as one line, with what hides or turns its direction as escapes."""
    told = visible(text[: most + 1]).replace("\n", " ").replace("\t", " ")
    return f"{told[:most].rstrip()}…" if len(told) > most else told


def _searched(member: Member) -> Iterable[str]:
    inside = member.inside if isinstance(member, Action) else member
    doc = documentation(inside)[:DOC]
    parameters = " ".join(member.signature.parameters)
    return (" ".join(words(text)) for text in (member.name, _summary(doc), doc, parameters))


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text; of `getRefunds_by_id` they are `get`, `refunds`, `by` and `id`."""
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text))]
