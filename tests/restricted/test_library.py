"""The library under attack: what is large, long or leads out, module by module."""

from __future__ import annotations

import calendar
import configparser
import csv
import logging
import textwrap
import time
import warnings

import pytest

from codeact.engines.restricted import silence
from codeact.limits import Limits
from tests.restricted.conftest import House

DEEP = "x = [1]\nfor _ in range(40): x = [x, x]\n"
TREE = (
    "import xml.etree.ElementTree as ET\na = ET.Element('a')\nfor _ in range(60):\n"
    "    b = ET.Element('b')\n    b.append(a)\n    b.append(a)\n    a = b\n"
)
PACKED = "import zlib, gzip\nc = zlib.compressobj()\nz = b''.join(c.compress(b'\\0' * 10**7) for _ in range(40)) + c.flush()\n"

LARGE = {
    "struct": "import struct\nstruct.pack('1000000000x')",
    "Struct": "import struct\nstruct.Struct('1000000000x').pack()",
    "array": "from array import array\narray('d', [0]) * 10**9",
    "array in place": "from array import array\na = array('d', [0])\na *= 10**9",
    "array by name": "from array import array\nclass A(array):\n    def m(self, n): return super().__mul__(n)\nA('d', [0]).m(10**9)",
    "array of a slice": "from array import array\ntype(array('d', [0])[:])('d', [0]) * 10**9",
    "array as text": "from array import array\nrepr(array('B', b'0' * 10**7))",
    "zlib": PACKED + "len(zlib.decompress(z))",
    "decompressobj": PACKED + "len(zlib.decompressobj().decompress(z))",
    "decompressobj, the rest": PACKED + "d = zlib.decompressobj()\nd.decompress(z, 1)\nlen(d.flush())",
    "gzip": "import gzip\nz = gzip.compress(b'0' * 10**7)\nlen(gzip.decompress(z * 40))",
    "shake": "import hashlib\nhashlib.shake_128(b'').digest(10**10)",
    "shake by name": "import hashlib\nhashlib.new('shake_256').hexdigest(10**10)",
    "slow hash": "import hashlib\nhashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)",
    "scrypt": "import hashlib\nhashlib.scrypt(b'', salt=b'', n=2**20, r=8, p=100, maxmem=2**31 - 1)",
    "StringIO past its end": "import io\nio.StringIO().seek(50_000_000)",
    "TextIOWrapper past its end": "import io\nio.TextIOWrapper(io.BytesIO()).seek(10**9)",
    "Template": "import string\nstring.Template('$a' * 10**5).substitute(a='x' * 10**5)",
    "Formatter": "import string\nstring.Formatter().format('{0}' * 1000, 'x' * 10**6)",
    "Formatter, own field": (
        "import string\ns = 'x' * 10**6\nclass F(string.Formatter):\n    def format_field(self, v, spec): return s\nF().format('{0}' * 1000, 1)"
    ),
    "Formatter, own parser": (
        "import string\ns = 'x' * 10**6\nclass F(string.Formatter):\n    def parse(self, t):\n"
        "        while True: yield s, None, None, None\nF().format('')"
    ),
    "Formatter, width": "import string\nstring.Formatter().format('{0:>{1}}', 1, 10**9)",
    "TextWrapper": "import textwrap\ntextwrap.TextWrapper(width=1, initial_indent='x' * 10**6, subsequent_indent='y' * 10**6).fill('a ' * 10**4)",
    "interpolation": (
        "import configparser\nc = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())\n"
        "c.read_dict({'a': {'k0': 'x' * 10**6, **{f'k{i}': f'${{k{i - 1}}}' * 9 for i in range(1, 9)}}})\nc.get('a', 'k4')"
    ),
    "log format": "import logging\nlogging.Formatter('%(message)999999999s').format(logging.makeLogRecord({'msg': 'a'}))",
    "log time": (
        "import logging\nclass F(logging.Formatter): default_msec_format = '%s%0999999999d'\n"
        "F('%(asctime)s').format(logging.makeLogRecord({'msg': 'a'}))"
    ),
    "carets": "import traceback\ntraceback.format_exception(SyntaxError('x', ('f', 1, 1, 'abc', 1, 2 * 10**9)))",
    "log record": "import logging\n" + DEEP + "repr(logging.makeLogRecord({'msg': x}))",
    "element": "import xml.etree.ElementTree as ET\n" + DEEP + "repr(ET.Element(x))",
    "signature": "import inspect\n" + DEEP + "def f(a=x): pass\ninspect.signature(f)",
    "partial": "import functools\n" + DEEP + "repr(functools.partial(print, x))",
    "proxy": "import types\n" + DEEP + "repr(types.MappingProxyType({'a': x}))",
    "itemgetter": "import operator\nx = (1,)\nfor _ in range(40): x = (x, x)\nrepr(operator.itemgetter(x))",
    "pprint": "import pprint\n" + DEEP + "pprint.saferepr(x)",
}


@pytest.mark.parametrize("name", LARGE)
def test_what_would_be_large_is_refused(run, name):
    assert run(LARGE[name], memory=64 * 1024 * 1024, seconds=60).fault.kind == "memory"


LONG = {
    "addresses": "import ipaddress\nlist(ipaddress.ip_network('::/0'))",
    "hosts": "import ipaddress\nlen(list(ipaddress.ip_network('10.0.0.0/8').hosts()))",
    "subnets": "import ipaddress\nlist(ipaddress.ip_network('::/0').subnets(new_prefix=128))",
    "comparing lines": (
        "import difflib\na = [f'line {i} some text\\n' for i in range(2000)]\n"
        "list(difflib.ndiff(a, [s.replace('i', 'u') for s in a]))"
    ),
    "comparing texts": "import difflib\ndifflib.SequenceMatcher(None, 'ab' * 50000, 'ba' * 50000, autojunk=False).ratio()",
    "words of a shell": "import shlex\nshlex.split('a ' * 5_000_000)",
    "tree as text": TREE + "ET.tostring(a)",
    "tree indented": TREE + "ET.indent(a)",
    "texts of a tree": TREE + "list(a.itertext())",
    "paths in a tree": TREE + "a.findall('.//zz')",
    "steps in a tree": TREE + "a.findall('/'.join('*' * 50))",
    "many elements": "import xml.etree.ElementTree as ET\nET.fromstring('<a>' + '<b/>' * 3_000_000 + '</a>')",
    "interpolation": (
        "import configparser\nc = configparser.ConfigParser()\n"
        "c.read_dict({'a': {'k0': 'x', **{f'k{i}': f'%(k{i - 1})s' * 20 for i in range(1, 10)}}})\nc.get('a', 'k9')"
    ),
    "scheduler": "import sched\ns = sched.scheduler(int, abs)\ns.enter(1, 1, print)\ns.run()",
    "timeit": "import timeit\ntimeit.timeit(int, number=10**12)",
    "waiting": "import threading\nthreading.Event().wait(10**9)",
    "template pattern": (
        "import string\nclass T(string.Template):\n"
        "    pattern = r'(?P<escaped>x)|(?P<named>(?:a|aa)+)(?P<braced>$)|(?P<invalid>y)'\nT('a' * 60 + 'b').safe_substitute()"
    ),
    "warning pattern": "import warnings\nwarnings.filterwarnings('ignore', message='(a|aa)+$')\nwarnings.warn('a' * 60 + 'b')",
}


@pytest.mark.parametrize("name", LONG)
def test_what_takes_long_ends_with_its_run(run, name):
    begun = time.process_time()
    assert run(LONG[name], seconds=0.5, timeout=0.5).fault.kind == "timeout"
    assert time.process_time() - begun < 5


DENIED = {
    "streams of sys": "import sys\nclass S(type(sys.stdout)): pass",
    "the door behind sys.stdout": "import sys\nsys.stdout._door('x')",
    "parser fed while it is fed": (
        "import xml.etree.ElementTree as ET\nclass T:\n    def start(self, tag, attrs): p.feed('<x>')\n"
        "p = ET.XMLParser(target=T())\np.feed('<a>')"
    ),
    "the parser in C": "import xml.etree.ElementTree as ET\nET.XMLParser().parser.SetBase('x')",
    "XMLParser subclassed": "import xml.etree.ElementTree as ET\nclass P(ET.XMLParser): pass",
    "entities of entities": (
        "import xml.etree.ElementTree as ET\ns = '<!DOCTYPE l [<!ENTITY a \"' + 'x' * 10**5 + '\">]><l>' + '&a;' * 10**5 + '</l>'\nET.fromstring(s)"
    ),
    "entity of a file": "import xml.etree.ElementTree as ET\nET.fromstring('<!DOCTYPE l [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><l>&a;</l>')",
    "file of a lexer": "import shlex\nclass S(shlex.shlex): pass\ns = S('include \"/etc/passwd\"')\ns.source = 'include'\nlist(s)",
    "field of a format": "import string\nstring.Formatter().format('{0.__class__.__base__}', 1)",
    "field of an own format": "import string\nclass F(string.Formatter): pass\nF().get_field('0.__globals__', (print,), {})",
    "field of a log": "import logging\nlogging.Formatter('{msg.__class__.__base__}', style='{').format(logging.makeLogRecord({'msg': 'a'}))",
    "frame of a log": (
        "import logging\nclass H(logging.Handler):\n    def emit(self, r): raise SystemExit(logging.Formatter('{exc_info[2].tb_frame}', style='{').format(r))\n"
        "logging.getLogger().addHandler(H())\ntry: 1 / 0\nexcept ZeroDivisionError: logging.exception('x')\n"
    ),
    "annotation that leads out": "import typing\ndef f(a: '().__class__.__base__'): pass\ntyping.get_type_hints(f)",
    "annotation of a dispatch": "import functools\n@functools.singledispatch\ndef g(x): pass\n@g.register\ndef _(x: 'g.__globals__'): pass",
    "signature that evaluates": "import inspect\ninspect.Signature.from_callable",
    "type by its origin": "import typing\ntyping.get_origin(typing.Type[int])('X', (), {'__del__': print})",
    "type by its arguments": "import typing\ntyping.get_args(type | None)[0]('X', (), {'__del__': print})",
    "reference with a callback": "import weakref\nclass A: pass\nweakref.ref(A(), print)",
    "type of a reference": "import weakref\nclass A: pass\na = A()\ntype(weakref.ref(a))(a, print)",
    "type of a reference with a key": "import weakref\nclass A: pass\na = A()\ntype(weakref.WeakValueDictionary(k=a).valuerefs()[0])(a, print, 1)",
    "address of an array": "from array import array\narray('i').buffer_info()",
    "address by the class": "from array import array\narray.buffer_info(array('i'))",
    "slow codec of a stream": "import io\nio.TextIOWrapper(io.BytesIO(b'a'), encoding='idna')",
    "slow codec later": "import io\nio.TextIOWrapper(io.BytesIO(b'a')).reconfigure(encoding='punycode')",
    "stream of its own": "import io\nclass B(io.BytesIO): pass\nio.TextIOWrapper(B())",
    "packing codec": "import codecs\ncodecs.decode(b'x', 'zlib')",
    "literal that calls": "import ast\nast.literal_eval('print(1)')",
    "statement for timeit": "import timeit\ntimeit.timeit('print(1)')",
    "comments in addresses": "import email.utils\nemail.utils.parseaddr('(' * 10**6)",
    "calendar": "import calendar\ncalendar.TextCalendar().formatyear(2026, w=10**9)",
    "module behind a module": "import logging\nlogging.os",
    "queue for ever": "import queue\nqueue.Queue().get()",
    "lock for ever": "import threading\nl = threading.Lock()\nl.acquire()\nl.acquire()",
    "thread": "import threading\nthreading.Thread(target=print).start()",
}


@pytest.mark.parametrize("name", DENIED)
def test_denied(run, name):
    ran = run(DENIED[name] + "\n'DONE'")
    assert ran.fault.kind in {"runtime", "denied"}
    assert ran.fault.type != "SystemExit"
    assert "root:" not in ran.fault.message


def _settings() -> tuple[object, ...]:
    filters = [found for found in warnings.filters if found is not silence._OURS]  # these are about programs only
    log = logging.getLogger()
    return log.level, log.handlers[:], log.manager.disable, logging.getLevelName(10), filters, calendar.firstweekday()


def test_the_host_s_library_stays(run):
    before = _settings()
    run("import logging\nlogging.basicConfig(level=1)\nlogging.addLevelName(10, 'X')\nlogging.disable(50)")
    run("import warnings\nwarnings.simplefilter('error')\nwarnings.resetwarnings()")
    run("import calendar\ncalendar.setfirstweekday(3)")
    run("import configparser\nconfigparser.RawConfigParser.BOOLEAN_STATES['x'] = 1")
    run("import textwrap\ntextwrap.TextWrapper.unicode_whitespace_trans[65] = 66")
    run("import csv\ncsv.register_dialect('mine', delimiter=';')\ncsv.field_size_limit(1)")
    run("import xml.etree.ElementTree as ET\nET.register_namespace('mine', 'http://x')")
    assert _settings() == before
    assert "x" not in configparser.RawConfigParser.BOOLEAN_STATES
    assert 65 not in textwrap.TextWrapper.unicode_whitespace_trans
    assert "mine" not in csv.list_dialects()
    assert csv.field_size_limit() > 1


def test_nothing_is_printed_elsewhere(run, capfd):
    program = (
        "import calendar, pprint, logging, warnings, traceback, timeit, xml.etree.ElementTree as ET\n"
        "calendar.prmonth(2026, 2)\npprint.pprint(1)\nlogging.warning('w')\nwarnings.warn('v')\nET.dump(ET.Element('a'))\n"
        "try: 1 / 0\nexcept ZeroDivisionError: traceback.print_exc()"
    )
    ran = run(program)
    assert all(
        part in ran.text for part in ("February", "WARNING:root:w", "UserWarning: v", "<a />", "ZeroDivisionError")
    )
    assert capfd.readouterr() == ("", "")


def test_a_traceback_has_the_program_s_frames_only(run):
    program = "import traceback, json\ndef f(): json.loads('{', object_pairs_hook=1)\ntry: f()\nexcept ValueError: t = traceback.format_exc()\nt"
    assert run(program).value == (
        "Traceback (most recent call last):\n"
        '  File "<program>", line 3, in <module>\n    try: f()\n'
        "  File \"<program>\", line 2, in f\n    def f(): json.loads('{', object_pairs_hook=1)\n"
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)\n"
    )


def test_what_is_led_elsewhere_is_the_program_s_own_while_it_runs():
    house = House(Limits(), 20.0)
    instance = house.open()
    house.run(
        instance,
        "import io, contextlib\nb = io.StringIO()\nr = contextlib.redirect_stdout(b)\nr.__enter__()\nprint('in')",
        1,
    )
    house.run(instance, "print('out', b.getvalue())", 2)
    instance.close()
    assert house.text == "out in\n\n"
