"""What may be imported, and what it gives."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Hashable
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FrameType, ModuleType, SimpleNamespace, TracebackType

import pytest

from codeact.engines.restricted.library import MODULES, SHARED
from codeact.engines.restricted.meter import Stopped
from codeact.engines.restricted.names import Sort, sort
from codeact.limits import Limits
from tests.restricted.conftest import House

GIVES = {
    "math": (
        "import math\n[math.sqrt(4), math.factorial(5), math.comb(5, 2), math.perm(5, 2), math.prod([2, 3]), math.lcm(4, 6), math.pi > 3]",
        [2.0, 120, 10, 20, 6, 12, True],
    ),
    "re": (
        "import re\nm = re.search(r'(?P<k>\\w+)=(\\d+)', 'a b=12 c')\n"
        "[m.group(), m.group('k', 2), m.groups(), m.groupdict(), m.start(2), m.span(), m[2], m.lastindex, m.re.pattern == m.re.pattern,\n"
        " re.findall(r'\\d', 'a1b2'), re.sub(r'(\\w)(\\d)', r'\\2\\1', 'a1'), re.sub('a', lambda m: m.group().upper(), 'banana', count=2),\n"
        " re.split(r'[,;]', 'a,b;c', maxsplit=1), [m.start() for m in re.finditer('a', 'aba')], re.subn('a', 'x', 'aa'),\n"
        " bool(re.fullmatch('A+', 'aa', re.I)), re.compile('^b', re.M | re.I).findall('a\\nB'), re.escape('a.b')]",
        [
            "b=12",
            ("b", "12"),
            ("b", "12"),
            {"k": "b"},
            4,
            (2, 6),
            "12",
            2,
            True,
            ["1", "2"],
            "1a",
            "bAnAna",
            ["a", "b;c"],
            [0, 2],
            ("xx", 2),
            True,
            ["B"],
            "a\\.b",
        ],
    ),
    "re error": ("import re\ntry:\n    re.compile('(')\nexcept re.error as e:\n    r = 'caught'\nr", "caught"),
    "json": (
        "import json\n[json.dumps({'a': [1, None]}, sort_keys=True), json.loads('[1, 2.5, \"x\"]'), json.dumps('é', ensure_ascii=False)]",
        ['{"a": [1, null]}', [1, 2.5, "x"], '"é"'],
    ),
    "json error": ("import json\ntry:\n    json.loads('{')\nexcept json.JSONDecodeError as e:\n    r = e.pos\nr", 1),
    "datetime": (
        "from datetime import datetime, date, timedelta, timezone, UTC\n"
        "[datetime.now().isoformat(), datetime.now(UTC).isoformat(), date.today().isoformat(), datetime.strptime('2026-02-03', '%Y-%m-%d').isoformat(),\n"
        " isinstance(datetime.now(), datetime), isinstance(datetime.now(), date), type(date.today()) is date, (date(2026, 3, 1) - timedelta(days=1)).isoformat(),\n"
        " datetime.fromtimestamp(0).isoformat(), datetime.fromisoformat('2026-01-01T00:00:00+00:00').tzinfo == timezone.utc, f'{date(2026, 1, 2):%d.%m.%Y}']",
        [
            "2026-01-02T03:04:05",
            "2026-01-02T03:04:05+00:00",
            "2026-01-02",
            "2026-02-03T00:00:00",
            True,
            True,
            True,
            "2026-02-28",
            "1970-01-01T00:00:00",
            True,
            "02.01.2026",
        ],
    ),
    "time": (
        "import time\n[time.time(), time.time_ns(), time.monotonic(), time.strftime('%Y', time.gmtime(0)), time.sleep(0)]",
        [1767323045.0, 1767323045000000000, 0.0, "1970", None],
    ),
    "decimal": (
        "from decimal import *\nwith localcontext() as c:\n    c.prec = 3\n    x = Decimal(1) / 3\n[str(x), isinstance(x, Decimal), type(x) is Decimal, str(Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_UP))]",
        ["0.333", True, True, "2.68"],
    ),
    "fractions": (
        "from fractions import Fraction as F\n[str(F(1, 3) + F('1/6')), isinstance(F(1), F), type(F(1)) is F]",
        ["1/2", True, True],
    ),
    "collections": (
        "from collections import *\nimport collections.abc\n[Counter('aab').most_common(1), dict(OrderedDict(a=1)), list(deque([1, 2], maxlen=1)), dict(defaultdict(list, {1: []})), isinstance([], collections.abc.Sequence), sorted(Counter(a=2).elements())]",
        [[("a", 2)], {"a": 1}, [2], {1: []}, True, ["a", "a"]],
    ),
    "itertools": (
        "import itertools as i\n[list(i.islice(i.count(2), 2)), list(i.chain([1], [2])), list(i.product('ab', repeat=2))[1], list(i.permutations([1, 2])), list(i.combinations('abc', 2))[0], [k for k, g in i.groupby('aab')], list(i.accumulate([1, 2])), list(i.zip_longest('a', ''))]",
        [[2, 3], [1, 2], ("a", "b"), [(1, 2), (2, 1)], ("a", "b"), ["a", "b"], [1, 3], [("a", None)]],
    ),
    "functools": (
        "import functools as f\n@f.lru_cache\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n[fib(60), f.reduce(lambda a, b: a * b, [1, 2, 3]), f.partial(max, 3)(2)]",
        [1548008755920, 6, 3],
    ),
    "operator": (
        "import operator as o\n[o.itemgetter(1)('ab'), o.attrgetter('real')(3), o.methodcaller('upper')('a'), o.add(1, 2), o.mul(2, 'a')]",
        ["b", 3, "A", 3, "aa"],
    ),
    "csv": (
        "import csv, io\nout = io.StringIO()\nw = csv.DictWriter(out, ['a'], lineterminator='\\n')\nw.writeheader()\nw.writerow({'a': 1})\n[out.getvalue(), list(csv.DictReader(io.StringIO('x,y\\n1,2')))]",
        ["a\n1\n", [{"x": "1", "y": "2"}]],
    ),
    "statistics": ("import statistics as s\n[s.mean([1, 2]), s.median([1, 3, 2]), s.mode('aab')]", [1.5, 2, "a"]),
    "text": (
        "import textwrap, html, string, unicodedata, difflib, pprint, base64, hashlib, urllib.parse\n[textwrap.shorten('a b c', 4, placeholder=''), html.escape('<'), string.capwords('a b'), unicodedata.name('a'), difflib.get_close_matches('aple', ['apple']), pprint.pformat([1]), base64.b64encode(b'a'), hashlib.sha256(b'').hexdigest()[:4], urllib.parse.urlencode({'a': 'é'})]",
        ["a b", "&lt;", "A B", "LATIN SMALL LETTER A", ["apple"], "[1]", b"YQ==", "e3b0", "a=%C3%A9"],
    ),
    "sys": (
        "import sys\nprint('x', file=sys.stderr)\nsys.stdout.write('y')\nsys.setrecursionlimit(5000)\nsys.maxsize > 0",
        True,
    ),
    "zoneinfo": (
        "from zoneinfo import ZoneInfo\nfrom datetime import datetime\ndatetime(2026, 7, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset().seconds",
        7200,
    ),
    "calendar": (
        "import calendar\n[calendar.monthrange(2026, 2), calendar.month_name[1], calendar.isleap(2024)]",
        [(6, 28), "January", True],
    ),
    "star": ("from math import *\nfloor(2.5)", 2),
    "fallback": ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\nnumpy", None),
}


@pytest.mark.parametrize("name", GIVES)
def test_it_gives(run, name):
    program, value = GIVES[name]
    assert run(program).value == value


@pytest.mark.parametrize("name", sorted({*SHARED, *MODULES} - {"__future__"}))
def test_a_module_holds_its_names_and_no_other_module(run, name):
    program = f"import {name} as m\n[(n, type(getattr(m, n)).__name__) for n in dir(m)]"
    found = dict(run(program).value)
    assert found
    assert "module" not in found.values()


def test_chance_is_the_world_s_own(run):
    program = (
        "import random, uuid\n[random.random(), random.Random().random(), random.Random(1).random(), str(uuid.uuid4())]"
    )
    first, second = run(program).value, run(program).value
    assert first == second  # the same seed
    assert first[2] == 0.13436424411240122


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("import maths", "'maths': it does not exist in the sandbox; did you mean 'math'?"),
        ("import nonesuch", "there are the tools, and: __future__, abc"),
        ("import sqlite3", "keep the rows"),
        ("import math\nmath.sqroot(2)", "did you mean sqrt"),
        ("from math import sqroot", "cannot import name 'sqroot' from 'math'"),
        ("import random\nrandom.rand", "has no 'rand' in this sandbox; did you mean rand"),
    ],
)
def test_what_is_missing_names_what_is_there(run, program, text):
    assert text in run(program).fault.message


SAMPLES = {
    "array": "m.array('i')",
    "calendar": "[m.TextCalendar(), m.HTMLCalendar()]",
    "collections": "[m.Counter(), m.deque(), m.ChainMap(), m.defaultdict(), m.UserDict(), m.UserList()]",
    "concurrent.futures": "[m.ThreadPoolExecutor(), m.Future()]",
    "configparser": "[m.ConfigParser(), m.RawConfigParser()]",
    "contextlib": "[m.ExitStack(), m.nullcontext(), m.redirect_stdout(None), m.suppress()]",
    "csv": "[m.Sniffer(), m.reader(['a']), m.DictReader(['a']), m.get_dialect('excel')]",
    "datetime": "[m.datetime.now(), m.date.today(), m.timedelta(1), m.timezone.utc]",
    "decimal": "[m.Decimal(1), m.getcontext()]",
    "difflib": "[m.SequenceMatcher(None, 'a', 'b'), m.Differ(), m.HtmlDiff()]",
    "fractions": "m.Fraction(1)",
    "functools": "[m.partial(print), m.lru_cache(print), m.singledispatch(print), m.partialmethod(print)]",
    "graphlib": "m.TopologicalSorter()",
    "hashlib": "[m.sha256(), m.shake_128(), m.blake2b()]",
    "hmac": "m.new(b'', b'', 'sha256')",
    "html.parser": "m.HTMLParser()",
    "inspect": "m.signature(lambda a: 1)",
    "io": "[m.StringIO(), m.BytesIO(), m.TextIOWrapper(m.BytesIO())]",
    "ipaddress": "[m.ip_address('1.2.3.4'), m.ip_network('10.0.0.0/8'), m.ip_interface('1.2.3.4/8')]",
    "itertools": "[m.count(), m.chain(), m.product('a'), m.tee('a')]",
    "json": "[m.JSONEncoder(), m.JSONDecoder()]",
    "logging": "[m.getLogger('x'), m.StreamHandler(), m.Formatter(), m.makeLogRecord({}), m.root.manager]",
    "operator": "[m.itemgetter(1), m.attrgetter('a'), m.methodcaller('a')]",
    "pprint": "m.PrettyPrinter()",
    "queue": "[m.Queue(), m.PriorityQueue(), m.SimpleQueue()]",
    "random": "[m.Random(), m.SystemRandom()]",
    "re": "[m.compile('a'), m.match('a', 'a')]",
    "sched": "m.scheduler()",
    "shlex": "m.shlex('a')",
    "statistics": "[m.NormalDist(), m.linear_regression([1, 2], [1, 2])]",
    "string": "[m.Formatter(), m.Template('$a')]",
    "struct": "m.Struct('i')",
    "sys": "[m.stdout, m.stdin]",
    "textwrap": "m.TextWrapper()",
    "threading": "[m.Lock(), m.RLock(), m.Condition(), m.Event(), m.Thread(), m.local(), m.Semaphore()]",
    "types": "[m.SimpleNamespace(), m.MappingProxyType({})]",
    "typing": "[m.List[int], m.Optional[int], m.TypeVar('T'), m.Generic]",
    "urllib.parse": "m.urlparse('http://x')",
    "uuid": "m.uuid4()",
    "warnings": "m.catch_warnings()",
    "weakref": "[m.WeakValueDictionary(), m.WeakSet()]",
    "xml.etree.ElementTree": "[m.fromstring('<a><b/></a>'), m.XMLParser(), m.TreeBuilder(), m.QName('a'), m.XMLPullParser()]",
    "zlib": "[m.compressobj(), m.decompressobj()]",
    "zoneinfo": "m.ZoneInfo('UTC')",
}
"""Objects of each module, beside what is in it."""

MUTABLE = (dict, list, set, bytearray, deque, SimpleNamespace)
MACHINERY = (ModuleType, FrameType, CodeType, TracebackType, re.Pattern)
POWERS = frozenset(
    {open, exec, eval, compile, __import__, getattr, setattr, delattr, globals, locals, vars, input, type}
)


def reached(name: str) -> dict[int, tuple[str, object]]:
    """What plain attributes and items lead to, from a module in a fresh world: what a program need not be granted."""
    house = House(Limits(), 60.0)
    instance = house.open()
    outcome = house.run(instance, f"import {name} as m\ns = {SAMPLES.get(name, 'None')}")
    assert outcome.fault is None, outcome.fault
    names = instance._world.globals
    pending = [(name, names["m"]), (f"{name}!", names["s"])]
    found: dict[int, tuple[str, object]] = {}
    while pending:
        path, value = pending.pop()
        if id(value) in found or path.count(".") > 9:
            continue
        found[id(value)] = path, value
        for key in dir(value):
            if sort(key) in {Sort.FREE, Sort.GUARDED}:
                with suppress(Exception, Stopped):
                    pending.append((f"{path}.{key}", getattr(value, key)))
        if isinstance(value, (list, tuple, set, frozenset)) and len(value) < 300:
            pending += [(f"{path}[]", item) for item in value]
        if isinstance(value, dict) and len(value) < 300:
            pending += [(f"{path}[{key!r}]", item) for key, item in value.items()]
    return found


@pytest.mark.parametrize("name", sorted({*SHARED, *MODULES} - {"__future__"}))
def test_nothing_leads_to_machinery_or_to_what_worlds_would_share(name):
    one, other = reached(name), reached(name)
    for number, (path, value) in one.items():
        # What the world has made of the library's text, from 3.13 on a path shows its module; the rest of it is looked at.
        own = isinstance(value, ModuleType) and sys.modules.get(value.__name__) is not value
        assert path == name or own or not isinstance(value, MACHINERY), path
        assert not (
            isinstance(value, Hashable) and isinstance(value, (BuiltinFunctionType, type)) and value in POWERS
        ), path
        shared = number in other and other[number][1] is value
        assert not (shared and isinstance(value, MUTABLE)), path
        assert not (shared and hasattr(value, "cache_clear")), path
