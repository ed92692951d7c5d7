from __future__ import annotations

import pytest

from tests.guest.room import SEED


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("import datetime\nstr(datetime.datetime.now())", "2026-01-02 03:04:05.678901"),
        ("import datetime\nstr(datetime.datetime.now(datetime.UTC))", "2026-01-02 03:04:05.678901+00:00"),
        ("import datetime\nstr(datetime.datetime.utcnow())", "2026-01-02 03:04:05.678901"),
        ("import datetime\nstr(datetime.date.today())", "2026-01-02"),
        ("from datetime import datetime\ntype(datetime.now()) is datetime", True),
        ("from datetime import datetime\nclass D(datetime): pass\ntype(D.now()) is D", True),
        ("from datetime import *\nimport pickle\nd = datetime.now()\npickle.loads(pickle.dumps(d)) == d", True),
        ("from datetime import *\nstr(datetime.strptime('2020-02-03', '%Y-%m-%d').date())", "2020-02-03"),
        (
            "from datetime import *\nfrom zoneinfo import *\ndatetime.now(ZoneInfo('Europe/Berlin')).isoformat()",
            "2026-01-02T04:04:05.678901+01:00",
        ),
        ("import zoneinfo\nlen(zoneinfo.available_timezones()) > 500", True),
        ("import time\ntime.strftime('%Y-%m-%d %H:%M')", "2026-01-02 03:04"),
        ("import time\ntime.gmtime().tm_year, time.time_ns()", (2026, 1_767_323_045_678_901_234)),
        ("import time\nstart = time.perf_counter()\ntime.sleep(0.05)\n0.05 <= time.perf_counter() - start < 0.1", True),
        ("import asyncio, time\nawait asyncio.sleep(0.05)\nreturn 1", 1),
        (
            "import logging\nlogging.Formatter('%(asctime)s').format(logging.makeLogRecord({'created': 0, 'msecs': 0}))",
            "1970-01-01 00:00:00,000",
        ),
        ("import threading\nthreading.Event().wait(0.01)", False),
        ("import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('select 1 + 1').fetchone()", (2,)),
        ("import os\nos.path.exists('/etc/passwd'), dict(os.environ)", (False, {})),
        ("import importlib.util\nimportlib.util.find_spec('numpy') is None", True),
        ("'é'.encode('cp1250')", b"\xe9"),
    ],
)
def test_what_a_program_finds(run, program, value):
    assert run(program).value == value


RANDOM = (
    "import os, random, secrets, tempfile, uuid\n"
    "[random.random(), random.Random().random(), random.SystemRandom().random(), os.urandom(8), secrets.token_hex(4),"
    " uuid.uuid1(), uuid.uuid4(), random.choice(range(1000)), list({'a', 'b', 'c'})]"
)


def test_randomness_follows_the_seed_and_nothing_else(run):
    first, again, other = run(RANDOM).value, run(RANDOM).value, run(RANDOM, seed=SEED[::-1]).value
    assert first == again
    assert all(mine != theirs for mine, theirs in zip(first[:7], other[:7], strict=True))


def test_a_seed_of_the_programs_own_gives_what_python_gives(run):
    assert run("import random\nrandom.seed(5)\nrandom.random()").value == 0.6229016948897019
    assert run("import random\nrandom.Random(5).random()").value == 0.6229016948897019


@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        ("import numpy", "ModuleNotFoundError", "use math, statistics"),
        ("import bz2", "ModuleNotFoundError", "use zlib or gzip"),
        ("import jsn", "ModuleNotFoundError", "did you mean 'json'?"),
        ("import multiprocessing", "ModuleNotFoundError", "no processes"),
        ("open('/etc/passwd')", "FileNotFoundError", "the program's own workspace"),
        ("import pathlib\npathlib.Path('a').read_text()", "FileNotFoundError", "the program's own workspace"),
        ("import os\nos.listdir('/')", "PermissionError", "the program's own workspace"),
        ("import os\nos.mkdir('/x')", "PermissionError", "Permission denied: '/x'"),
        (
            "import sqlite3\nsqlite3.connect(':memory:').execute(\"attach 'x.db' as x\")",
            "DatabaseError",
            "not authorized",
        ),
        ("import sqlite3\nsqlite3.connect('x.db')", "PermissionError", ":memory:"),
        ("import socket\nsocket.create_connection(('example.com', 80))", "OSError", "no network"),
        ("import urllib.request\nurllib.request.urlopen('http://example.com')", "URLError", "no network"),
        ("import threading\nthreading.Thread(target=print).start()", "RuntimeError", "no threads"),
        ("import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire()", "RuntimeError", "wait forever"),
        ("breakpoint()", "RuntimeError", "no debugger"),
    ],
)
def test_what_does_not_exist_says_so(run, program, kind, words):
    fault = run(program).fault
    assert fault["type"] == kind
    assert words in fault["message"]


MODULES = """
abc argparse array ast asyncio base64 binascii bisect calendar cmath codecs collections.abc colorsys concurrent.futures
configparser contextlib contextvars copy csv dataclasses datetime decimal difflib dis doctest email.message email.utils
enum fnmatch fractions functools getpass gettext glob graphlib gzip hashlib heapq hmac html.parser http.client
http.cookies imaplib importlib.resources inspect io ipaddress itertools json keyword linecache locale logging.config
logging.handlers mailbox math mimetypes numbers operator optparse os.path pathlib pdb pickle pickletools platform
plistlib pprint profile queue quopri random re reprlib sched secrets selectors shelve shlex shutil signal smtplib
sqlite3 statistics string stringprep struct symtable tarfile tempfile textwrap threading time timeit tokenize tomllib
traceback types typing unicodedata unittest.mock urllib.parse urllib.request uuid warnings wave weakref wsgiref.headers
xml.dom.minidom xml.etree.ElementTree xml.sax xmlrpc.client zipfile zlib zoneinfo _pydecimal encodings.koi8_r
"""


@pytest.mark.parametrize("module", MODULES.split())
def test_the_library_is_there(run, module):
    assert run(f"import {module}\n1").value == 1
