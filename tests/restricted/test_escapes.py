"""Ways into the host that an adversary has found: each is denied or leads nowhere, and the host stays as it was."""

from __future__ import annotations

import collections.abc
import decimal
import json
import random
import time
from zoneinfo import ZoneInfo

import pytest

from codeact.limits import Limits
from tests.restricted.conftest import House

_PLACES = {
    "if": "if True: __match_args__ = ('__globals__',)",
    "for": "for __match_args__ in [('__globals__',)]: pass",
    "walrus": "(__match_args__ := ('__globals__',))",
    "tuple": "__match_args__, x = ('__globals__',), 1",
    "chain": "x = __match_args__ = ('__globals__',)",
    "import": "import json as __match_args__",
    "in place": "__match_args__ = ()\n    __match_args__ += ('__globals__',)",
    "with": "with tools as __match_args__: pass",
    "function": "def __match_args__(self): pass",
    "class": "class __match_args__: pass",
    "except": "try: pass\n    except ValueError as __match_args__: pass",
    "match": "match ('__globals__',):\n        case __match_args__: pass",
    "global": "global __match_args__",
    "private constant": "__match_args__ = ('_world',)",
}


@pytest.mark.parametrize("name", _PLACES)
def test_match_args_are_bound_as_a_constant_only(run, name):
    assert run(f"class D:\n    {_PLACES[name]}\n'DONE'").fault.kind == "denied"


def test_match_args_that_are_plain(run):
    program = "class P:\n    __match_args__ = ('x', 'y')\n    def __init__(self): self.x, self.y = 1, 2\n"
    assert run(program + "match P():\n    case P(a, b): r = a, b\nr").value == (1, 2)


_POSITIONAL = {
    "dataclass": "@dataclass\nclass D(P):\n    gi_frame: object",
    "dataclass with slots": "@dataclass(slots=True)\nclass D(P):\n    gi_frame: object",
    "NamedTuple": "class D(NamedTuple):\n    gi_frame: object",
    "NamedTuple called": "class D(NamedTuple('N', [('gi_frame', int)])): pass",
    "namedtuple": "D = namedtuple('D', ['gi_frame'])",
    "in __init_subclass__": (
        "class B(P):\n    def __init_subclass__(cls):\n        runtime_checkable(cls)\n"
        "        match g:\n            case cls(f): raise SystemExit(f)\n"
        "@dataclass(slots=True)\nclass D(B, P):\n    gi_frame: object"
    ),
}


@pytest.mark.parametrize("name", _POSITIONAL)
def test_no_class_reads_machinery_by_position(run, name):
    program = (
        "from dataclasses import dataclass\nfrom collections import namedtuple\nfrom abc import ABC\n"
        "from typing import NamedTuple, Protocol as P, runtime_checkable\ng = (x for x in [1])\n"
        f"{_POSITIONAL[name]}\ntry: runtime_checkable(D)\nexcept TypeError: pass\n"
        "match g:\n    case D(f): r = f\n    case _: r = 'NOT MATCHED'\nr"
    )
    ran = run(program)
    assert ran.outcome.value == "NOT MATCHED" or ran.fault.type == "TypeError"


def test_fields_match_by_position_up_to_the_first_that_may_not(run):
    program = (
        "from dataclasses import dataclass, field, KW_ONLY\nfrom typing import ClassVar\n@dataclass\nclass A:\n"
        "    x: int\n    z: ClassVar[int] = 3\n    y: int = 2\n    format: str = 'f'\n    _: KW_ONLY\n    k: int = 5\n"
        "match A(1):\n    case A(a, b): r = a, b\nr, A(1, 2, 'x').format"
    )
    assert run(program).value == ((1, 2), "x")


DENIED = {
    "field of its own kind": "from dataclasses import Field\nclass F(Field): pass",
    "field of its own kind by type": "from dataclasses import field\nclass F(type(field())): pass",
    "enum called with a hook": "from enum import Enum\nEnum('E', {'__getattr__': print})",
    "enum called with pairs": "from enum import IntEnum\nIntEnum('E', [('__del__', print)])",
    "enum called with match args": "from enum import Flag\nFlag('E', names={'__match_args__': ('__globals__',)})",
    "enum called by __call__": "from enum import Enum\nEnum.__call__('E', {'__getattr__': print})",
    "enum called with a lying pair": (
        "from enum import Enum\nclass L(list):\n    def __iter__(self): return iter(('__del__', print))\nEnum('E', [L(['a', 1])])"
    ),
    "register a host class": "from abc import ABC\nclass D(ABC): pass\nD.register(type(tools))",
    "register with a shared class": "import collections.abc as c\nclass A: pass\nc.Sized.register(A)",
    "register by a derived class": "import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 0\nA.register(int)",
    "register by an alias": "import typing\ntyping.Sequence.register(int)",
    "register by arguments": "import collections.abc as c\nc.Sequence[int].register(int)",
    "register by name": "import typing\ngetattr(typing.Mapping, 'register')(str)",
    "ABCMeta called": "from abc import ABCMeta\nABCMeta('D', (), {'__match_args__': ('__globals__',)})",
    "EnumMeta called": "from enum import EnumMeta\nEnumMeta('D', (), {})",
    "EnumType subclassed": "from enum import EnumType\nclass M(EnumType): pass",
    "Type subclassed": "from typing import Type\nclass M(Type): pass",
    "Type with an argument subclassed": "from typing import Type\nclass M(Type[int]): pass",
    "type with an argument called": "type[int]('X', (), {'__del__': print})\n1",
    "type with an argument subclassed": "class M(type[int]): pass",
    "metaclass by mapping": "class M:\n    def __new__(c, *a, **k): return 1\nclass X(**{'metaclass': M}): pass",
    "metaclass that claims to be known": (
        "class K:\n    def __hash__(self): return hash(object)\n    def __eq__(self, o): return True\n"
        "    def __call__(self, *a): return 1\nclass X(metaclass=K()): pass"
    ),
    "bases from a field": "from types import SimpleNamespace as S\nclass M(S(**{'__mro_entries__': lambda b: (int,)})): pass",
    "registry on the host's output": "from abc import ABC\nclass A(ABC): pass\nA._dump_registry()",
    "enum of a host module": "from enum import Enum\nclass E(Enum): pass\nE._convert_('X', 'json', lambda n: True)",
    "enum of a host module by super": (
        "from enum import Enum\nclass E(Enum):\n    def f(self): return super()._create_('X', 'a')\n    A = 1\nE.A.f()"
    ),
    "dict of a host class": "import functools\nclass W: pass\nw = W()\nfunctools.update_wrapper(w, object)\nvars(w)['__getattribute__']",
    "dict of a host class by wraps": "import functools\n@functools.wraps(object)\ndef f(): pass\nvars(f)['__getattribute__']",
    "dict of a host class by contextmanager": "import contextlib\nvars(contextlib.contextmanager(object))",
    "format of a host class by contextmanager": "import contextlib\ncontextlib.contextmanager(str).format('{0.__class__}', 1)",
    "format of a host class by cache": "import functools\nfunctools.cache(str).format('{0.__class__}', 1)",
    "format by super": "class S(str):\n    def format(self, *a): return super().format(*a)\nS('{0.__class__}').format(1)",
    "format by super of the class": "class S(str):\n    def format(self, *a): return super(S, S).format(self, *a)\nS('{0.__class__}').format(1)",
    "format_map by super": "class S(str):\n    def format_map(self, a): return super().format_map(a)\nS('{a.__class__}').format_map({'a': 1})",
    "UserString": "from collections import UserString\nUserString('{0.__class__}').format(1)",
    "field past the dataclass": (
        "from dataclasses import dataclass\n@dataclass(init=False)\nclass B:\n    format: object\nclass S(str, B): pass"
    ),
    "field of a base": (
        "from dataclasses import dataclass\n@dataclass(init=False)\nclass B: x: int\nclass S(str, B): pass\n"
        "@dataclass(init=False)\nclass T(S): format: object"
    ),
    "self by global": "self = tools\nclass A:\n    def f(self):\n        self._y = 1\n        def g():\n            global self\n            return self._tools\n        return g()\nA().f()",
    "self by global in a class": "self = tools\nclass A:\n    def f(self):\n        self._y = 1\n        class B:\n            global self\n            z = self._tools\nA().f()",
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(run, name):
    ran = run(DENIED[name] + "\n'DONE'")
    assert ran.fault.kind in {"runtime", "denied"}
    assert ran.text == ""


WORKING = {
    "metaclass": (
        "from abc import ABCMeta, abstractmethod\nclass A(metaclass=ABCMeta): pass\nisinstance(A, ABCMeta)",
        True,
    ),
    "enum": (
        "from enum import Enum, EnumMeta\nclass A(Enum):\n    X = 1\nisinstance(A, EnumMeta), A.X.value",
        (True, 1),
    ),
    "enum called": (
        "from enum import Enum, IntEnum, StrEnum, Flag, auto\nA = Enum('A', 'x y')\nB = IntEnum('B', {'x': 1})\n"
        "C = Enum('C', [('a', 1)])\nD = Flag('D', ['p', 'q'])\nclass S(StrEnum):\n    Q = auto()\n"
        "class I(IntEnum):\n    K = 3\nlen(A), B.x + 1, C.a.value, (D.p | D.q).value, str(S.Q), f'{I.K}', repr(I.K), I.K == 3",
        (2, 2, 1, 3, "q", "3", "<I.K: 3>", True),
    ),
    "UserList": (
        "from collections import UserList\n(UserList([1]) * 3).data, (2 * UserList([1])).data",
        ([1] * 3, [1] * 2),
    ),
    "register": ("from abc import ABC\nclass A(ABC): pass\n@A.register\nclass B: pass\nisinstance(B(), A)", True),
    "a register of its own": ("class R:\n    def register(self, x): return x\nR().register(int)(3)", 3),
    "wraps": (
        "import functools\ndef f():\n    'doc'\nf.x = 1\n@functools.wraps(f)\ndef g(): pass\ng.__name__, g.__doc__, g.x",
        ("f", "doc", 1),
    ),
    "super": (
        "class S(str):\n    def replace(self, a, b): return super().replace(a, b) + '!'\nS('ab').replace('a', 'c')",
        "cb!",
    ),
    "from_bytes": (
        "class I(int):\n    @classmethod\n    def from_bytes(cls, b): return super().from_bytes(b, 'big') + 1\nI.from_bytes(b'a')",
        98,
    ),
    "seek": (
        "import io\nclass F(io.StringIO):\n    def seek(self, n): return super().seek(n) + 1\nF('abc').seek(1)",
        2,
    ),
    "type of a type": (
        "type(int) is type, type(type) is type, isinstance(type, type), type[int] is not None",
        (True, True, True, True),
    ),
}


@pytest.mark.parametrize("name", WORKING)
def test_what_is_near_still_works(run, name):
    program, value = WORKING[name]
    assert run(program).value == value


def test_host_functions_are_not_written(run):
    run(
        "import functools, json\ndef f(): 'evil'\nfunctools.update_wrapper(json.loads, f)\nfunctools.wraps(f)(json.dumps)"
    )
    assert (json.loads.__name__, hasattr(json.loads, "__wrapped__")) == ("loads", False)


TYPES = {
    "type of type": "type(type)({})(range(3))",
    "type of type by another": "t = type(type(type))\nt('X', (), {'__del__': print})",
    "precision by the class": "import decimal\ntype(decimal.getcontext())(prec=10**8)",
    "precision by __init__": "import decimal\ndecimal.Context.__init__(decimal.getcontext(), prec=10**8)\nassert decimal.getcontext().prec > 28",
    "precision by a subclass": "import decimal\nclass C(decimal.Context): pass",
    "raw compress": "import itertools\ntype(itertools.count())([1], [1])",
    "method type": "class A:\n    def m(self): pass\ntype(A().m)(print, 1)()",
    "function type": "type(lambda: 1)(1, {})",
    "copy of a sealed type": "import copy\nclass A:\n    def m(self): pass\ncopy.copy(type(A().m))(print, 1)",
    "cache of zones": "import zoneinfo\nzoneinfo.ZoneInfo.clear_cache()",
    "cache of zones by an instance": "import zoneinfo\nzoneinfo.ZoneInfo('UTC').clear_cache()",
    "cache of zones by name": "import zoneinfo\ngetattr(zoneinfo.ZoneInfo, 'clear_cache')()",
    "cache of a function": "from urllib.parse import urlsplit\nurlsplit.cache_clear()",
}


@pytest.mark.parametrize("name", TYPES)
def test_types_and_caches_are_closed(run, name):
    assert run(TYPES[name] + "\n'DONE'").fault.kind == "runtime"


def test_types_still_tell_what_a_value_is(run):
    program = (
        "import decimal, itertools\nclass A:\n    def m(self): pass\na, f = A(), lambda: 1\n"
        "(type(a.m).__name__, type(a.m) is type(A().m), isinstance(f, type(f)), isinstance(a, type(f)),"
        " isinstance(decimal.getcontext(), decimal.Context), decimal.Context(prec=5).prec)"
    )
    assert run(program).value == ("method", True, True, False, True, 5)


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


NOON = "from datetime import datetime\nimport time, operator\nd = datetime(2024, 7, 1, 12)\n"
LOCAL = {
    "d.timestamp()": 1719835200.0,
    "datetime.timestamp(d)": 1719835200.0,
    "list(map(datetime.timestamp, [d]))": [1719835200.0],
    "operator.methodcaller('timestamp')(d)": 1719835200.0,
    "getattr(d, 'timestamp')()": 1719835200.0,
    "datetime.fromtimestamp(d.timestamp()) == d": True,
    "str(d.astimezone())": "2024-07-01 12:00:00+00:00",
    "d.strftime('%s %%s %Y')": "1719835200 %s 2024",
    "d.date().strftime('%s')": "1719792000",
    "f'{d:%s}'": "1719835200",
    "format(d, '%s')": "1719835200",
    "'{:%s}'.format(d)": "1719835200",
    "time.strftime('%s', time.gmtime(0))": "0",
    "d.time().strftime('%H')": "12",
}


@pytest.mark.parametrize("shown", LOCAL)
def test_the_host_s_time_zone_does_not_show(run, elsewhere, shown):
    assert run(NOON + shown).value == LOCAL[shown]


def test_fields_may_be_named_like_hosted_methods(run):
    program = (
        "from dataclasses import dataclass\n@dataclass\nclass E:\n    timestamp: int\n    samples: list\n"
        "match E(1, [2]):\n    case E(a, b): r = a, b\nmatch E(3, []):\n    case E(timestamp=t): r += (t,)\n"
        "e = E(4, [5])\ne.timestamp += 1\nr, e.timestamp, e.samples"
    )
    assert run(program).value == ((1, [2], 3), 5, [5])


def test_the_host_s_chance_is_not_drawn_from(run):
    before = random.getstate()
    program = (
        "from statistics import NormalDist as N\n(len(N().samples(5)), len(N.samples(N(), 3)),"
        " len((N() + N()).samples(2)), N().samples(2, seed=1) == N().samples(2, seed=1))"
    )
    assert run(program).value == (5, 3, 2, True)
    assert random.getstate() == before


def test_the_host_s_decimal_context_stays(house):
    with decimal.localcontext(decimal.Context(prec=11)) as host:
        instance = house.open()
        programs = (
            "import decimal\ndecimal.Decimal(1) / 3",
            "decimal.getcontext().prec = 3",
            "str(decimal.Decimal(1) / 3)",
        )
        *_, last = [house.run(instance, program, number) for number, program in enumerate(programs, 1)]
        instance.close()
        assert (last.value, host.prec, any(host.flags.values())) == ("0.333", 11, False)


@pytest.fixture
def house():
    return House(Limits(), 20.0)


def test_the_host_s_time_zones_stay(run):
    program = (
        "from zoneinfo import ZoneInfo\n"
        "class S(str):\n"
        "    def __eq__(self, other): return 1 / 0\n"
        "    def __hash__(self): return hash(str(self))\n"
        "ZoneInfo(S('Africa/Lome')), ZoneInfo.no_cache(S('Africa/Lome'))\n'DONE'"
    )
    assert run(program).value == "DONE"
    assert type(ZoneInfo("Africa/Lome").key) is str


def test_the_host_s_abstract_classes_stay(run):
    run("import collections.abc as c\nclass A(c.Sized):\n    def __len__(self): return 0\nA.register(int)")
    run("import typing\ntyping.Mapping.register(str)")
    assert not isinstance(5, collections.abc.Sized)
    assert not isinstance("", collections.abc.Mapping)


_LOOKED_AT = {
    "a class": ("center=Point(x=x)", 1),
    "a sequence": ("join=[x, _]", 1),
    "nothing": ("center=_, x=x", 0),
    "one of several": ("center=Point(x=0) | Point(y=0)", "NOT MATCHED"),
}


@pytest.mark.parametrize("case", _LOOKED_AT)
def test_a_field_named_like_a_method_of_texts_can_be_looked_into(run, case):
    pattern, value = _LOOKED_AT[case]
    program = (
        "class Point:\n    def __init__(self, x, y): self.x, self.y = x, y\n"
        "class Box:\n    def __init__(self): self.x, self.center, self.join = 0, Point(1, 2), [1, 2]\n"
        f"x = None\nmatch Box():\n    case Box({pattern}): r = x\n    case _: r = 'NOT MATCHED'\nr"
    )
    assert run(program).value == value


@pytest.mark.parametrize("pattern", ["center=c", "center=_ as c", "center=(Box() | c)", "join=[] as c"])
def test_a_method_of_texts_gets_no_name_by_a_pattern(run, pattern):
    program = f"class Box: pass\nmatch 'x':\n    case str({pattern}): r = c\n    case _: r = 0\nr"
    assert run(program).fault.kind in {"denied", "syntax"}
