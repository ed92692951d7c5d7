"""What the model and a type checker are told of the tools: signatures, records, and the words beside them."""

from __future__ import annotations

import datetime as dt
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Required, TypeVar

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType, TypedDict

from codeact import Tool, Toolset, stubs, tool
from codeact.kinds import note_of
from tests import tools
from tests.conftest import MakeSandbox

T = TypeVar("T")


class Size(Enum):
    S = "s"
    M = "m"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


Many = Enum("Many", {f"M{n}": f"m{n}" for n in range(20)})
Odd = Enum("Odd", {"A": (1, 2), "B": None})


@dataclass
class Node:
    """A node of a tree.

    It holds nodes.
    """

    name: Annotated[str, "unique in its tree"]
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: str | None


@dataclass
class Day:
    date: dt.date
    list: list[str]
    str: Decimal


@dataclass
class Line:
    sku: str
    count: Annotated[int, Field(ge=1, le=99)]
    note: str = ""


class Order(BaseModel):
    lines: list[Line]
    size: Size = Size.S
    ship_to: str = Field(alias="shipTo", default="", description='where "to"\nsend it')


class Receipt(BaseModel):
    order: Order
    keys: list[str]
    at: dt.datetime


Weird = TypedDict("Weird", {"first-name": str, "class": int, "ok": NotRequired[bool]})


class Search(TypedDict, total=False):
    size: Required[Size]
    many: Many  # type: ignore[valid-type]
    since: dt.date


UserId = NewType("UserId", str)
Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")  # type: ignore[misc]


class Point(NamedTuple):
    x: int
    y: float


class Text(str):
    __slots__ = ()


@dataclass
class Charge:
    """Of another module than the other Charge."""

    other: int


@tool
def tree(root: str) -> Node:
    r'''A tree """quoted""" and \back.

    Second "line"'''
    raise NotImplementedError


@tool
async def page(
    n: int,
    /,
    size: Size = Size.M,
    *,
    level: Level = Level.LOW,
    many: Many | None = None,  # type: ignore[valid-type]
) -> Page[Node]:
    raise NotImplementedError


@tool
def days(date: dt.date, *more: dt.date, **named: int) -> list[Day]:
    raise NotImplementedError


@tool
def place(order: Order, extra: dict[str, Line] | None = None) -> Receipt:
    raise NotImplementedError


def place_line(line: Line) -> None:
    raise NotImplementedError


@tool
def order_only(order: Order) -> None:
    raise NotImplementedError


@tool
def look(
    search: Annotated[Search, "what to look for"],
    limit: Annotated[int, Field(ge=1, description="how many")] = 3,
    nodes: Sequence[Node] = (),
) -> None:
    """Look."""


@tool
def weird(given: Weird) -> Odd:  # type: ignore[valid-type]
    raise NotImplementedError


@tool
def more_weird() -> Weird:
    raise NotImplementedError


@tool
def path(p: Path, x: Any, y: object, z: int | None) -> Any:
    raise NotImplementedError


@tool
def json(x: Json) -> Json:
    raise NotImplementedError


@tool
def many_kinds(  # noqa: PLR0913, PLR0917 - each shows something else
    a: UserId,
    p: Point,
    choice: Literal["a", 1, None, True],  # noqa: PYI061 - as others write it
    f: float = float("nan"),
    d: dict = {"a": 1},  # type: ignore[type-arg]  # noqa: B006
    t: tuple = (1, 2),  # type: ignore[type-arg]
    s: list[int] = list(range(100)),  # noqa: B006
) -> tuple[Point, Text]:
    raise NotImplementedError


@tool(name="list")
def list_(self: int) -> list[list[int]]:
    raise NotImplementedError


@tool
def members() -> dict[str, tuple[Size, Level, Many]]:  # type: ignore[valid-type]
    raise NotImplementedError


@tool
def other_charges() -> list[Charge]:
    raise NotImplementedError


ALL: list[Tool[..., Any]] = [
    tree, page, days, place, look, weird, more_weird, path, json, many_kinds, members, other_charges, order_only, *tools.ALL,
]  # fmt: skip

CHECKED = """
from granted import tools

charge = tools.get_charges("c1")[0]
reveal_type(charge.amount)
charge["amount"]
charge.status == "paid"
reveal_type(charge.status.value)
article = tools.search("x", top=2)[0]
reveal_type(article.items)
kept = reveal_type(tools.page(1))
tools["echo"](1)
tools.place({"lines": []})
tools.look({"size": "s"}, nodes=[{"name": "a"}])
len(charge), {**charge}, list(charge.values())
"""


def test_stubs_are_what_the_prompt_shows() -> None:
    assert stubs([tools.get_charges, tools.fetch]) == (
        "from __future__ import annotations\n\n"
        "from collections.abc import Callable\n"
        "from datetime import date\n"
        "from decimal import Decimal\n"
        "from typing import Any, Literal, Protocol\n\n"
        "class Record(dict[str, Any]):\n"
        '    """What tools give: record.name and record["name"] are the same."""\n\n'
        "class Member:\n"
        '    """A member of an Enum: it equals its value."""\n\n'
        "    def __eq__(self, other: object) -> bool:\n        return NotImplemented\n\n"
        "class Charge(Record):\n    id: str\n    amount: Decimal\n    day: date\n    status: Status\n\n"
        "class Status(Member):\n    name: Literal['PAID', 'REFUNDED']\n    value: Literal['paid', 'refunded']\n\n"
        "class Tools(Protocol):\n"
        "    def get_charges(self, customer_id: str, limit: int = 10) -> list[Charge]:\n"
        '        """The charges of a customer, oldest first."""\n\n'
        "    async def fetch(self, number: int) -> int:\n"
        '        """Twice a number, from afar."""\n\n'
        "    def __getitem__(self, name: str) -> Callable[..., Any]: ...\n\n"
        "tools: Tools\n"
    )


DECLARED: list[tuple[str, list[Tool[..., Any]]]] = [
    ("class PageNode(Record):\n    items: list[Node]  # type: ignore\n    next: str | None\n", [page]),
    ('    """A node of a tree."""\n    name: str  # unique in its tree\n    children: list[Node]\n', [tree]),
    ("class Day(Record):\n    date: date_\n    list: list_[str_]\n    str: Decimal\n\ndate_ = date\n", [days]),
    ("    def days(self, date: date, *more: date, **named: int) -> list[Day]: ...\n", [days]),
    (
        "class Line(TypedDict):\n    sku: str\n    count: int  # at least 1; at most 99\n    note: NotRequired[str]\n",
        [tool(name="a")(place_line)],
    ),
    (
        "    def place(self, order: Order | dict[str, Any], extra: dict[str, Line | dict[str, Any]] | None = None)",
        [place],
    ),
    ('    lines: list[Line]\n    size: Size\n    ship_to: str  # where "to" send it\n', [place]),
    (
        "class Order(TypedDict):\n    lines: list[Line]\n    size: NotRequired[Literal['s', 'm']]\n    shipTo: ",
        [order_only],
    ),
    (
        "class Search(TypedDict):\n    size: Literal['s', 'm']\n    many: NotRequired[Many]\n    since: NotRequired[date]\n",
        [look],
    ),
    ("    def look(self, search: Search, limit: int = 3, nodes: Sequence[Node] = ()) -> None:\n", [look]),
    ('        """Look.\n\n        search: what to look for\n        limit: how many; at least 1"""\n', [look]),
    ("Many: TypeAlias = \"Literal['m0', 'm1', ", [look]),
    ("Weird = TypedDict('Weird', {'first-name': 'str', 'class': 'int', 'ok': 'NotRequired[bool]'})\n", [weird]),
    (
        "    # by item only: first-name: str\n    # by item only: class: int\n    ok: bool  # may be missing\n",
        [more_weird],
    ),
    ("class Odd(Member):\n    name: Literal['A', 'B']\n    value: Any\n", [weird]),
    ("    def path(self, p: Any, x: Any, y: object, z: int | None) -> Any: ...  # Any stands for Path\n", [path]),
    ("Json: TypeAlias = 'dict[str, Json] | list[Json] | str | int | None'\n", [json]),
    ("    async def page(self, n: int, /, size: Literal['s', 'm'] = 'm', *, level: Literal[1, 2] = 1, ", [page]),
    ("    def many_kinds(self, a: str, p: tuple[int, float], choice: Literal['a', 1, None, True], ", [many_kinds]),
    (
        "f: float = float(\"nan\"), d: dict[Any, Any] = {'a': 1}, t: tuple[Any, ...] = (1, 2), s: list[int] = ...",
        [many_kinds],
    ),
    (") -> tuple[tuple[int, float], str]: ...\n", [many_kinds]),
    ("    def list(self_, self: int) -> list_[list_[int]]: ...\n", [list_]),
    ("def get_charges(self, customer_id: str, limit: int = 10) -> list[Charge]:", [tools.get_charges, other_charges]),
    ("    def other_charges(self) -> list[Charge_2]: ...\n", [tools.get_charges, other_charges]),
    (
        'class Charge_2(Record):\n    """Of another module than the other Charge."""\n    other: int\n',
        [tools.get_charges, other_charges],
    ),
    ('        """A tree \\"\\"\\"quoted\\"\\"\\" and \\\\back.\n\n        Second "line" """\n', [tree]),
]


@pytest.mark.parametrize(("declaration", "granted"), DECLARED)
def test_a_declaration(declaration: str, granted: list[Tool[..., Any]]) -> None:
    assert declaration in stubs(granted)


def test_what_annotations_say() -> None:
    hint = Annotated[str, "an id", Field(min_length=2, max_length=9, pattern="^c", description="of a customer"), 3]
    assert note_of(hint) == "an id; of a customer; length at least 2; length at most 9; matches '^c'"
    assert note_of(int) == ""


def test_inside_the_same_is_shown(make: MakeSandbox) -> None:
    told = make([page, tree, look]).run("print(tools)\nprint('---')\nhelp(tools.look)")
    everything, _, one = told.stdout.partition("---\n")
    assert everything.startswith("async page(n: int, /, size: Literal['s', 'm'] = 'm', *, level: Literal[1, 2] = 1, ")
    assert (
        everything.count('class Node(Record):\n    """A node of a tree."""\n    name: str  # unique in its tree') == 1
    )
    assert "    items: list[Node]\n" in everything
    assert one.startswith(
        "look(search: Search, limit: int = 3, nodes: Sequence[Node] = ()) -> None\n"
        "    Look.\n\n    search: what to look for\n    limit: how many; at least 1\n"
    )
    assert "class Search(TypedDict):\n" in one


def test_stubs_pass_type_checkers(tmp_path: Path) -> None:
    text = stubs(Toolset([*ALL, list_]))
    exec(compile(text, "stubs", "exec"), {})
    (tmp_path / "stubs.py").write_text(text)
    (tmp_path / "granted.pyi").write_text(stubs(ALL))
    (tmp_path / "use.py").write_text(CHECKED)
    told = _mypy(tmp_path, "stubs.py")
    assert told == "Success: no issues found in 1 source file", told
    told = _mypy(tmp_path, "use.py")
    for revealed in ("Decimal", "Literal['paid']", "list[int]", "Coroutine[Any, Any, granted.PageNode]"):
        assert revealed in told
    assert "error" not in told, told
    if shutil.which("ty", path=Path(sys.executable).parent) is None:
        pytest.skip("ty is not installed")
    told = _ty(tmp_path, "stubs.py")
    assert told == "All checks passed!", told
    assert "error" not in _ty(tmp_path, "use.py")


def _mypy(where: Path, name: str) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(where / "cache"), name]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=False).stdout.strip()


def _ty(where: Path, name: str) -> str:
    command = [str(Path(sys.executable).with_name("ty")), "check", "--output-format", "concise", name]
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=False).stdout.strip()
