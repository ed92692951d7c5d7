"""The hostile programs. Each is a small text of its own, so that the refusal of one does not spare the next.

What a program gets hold of it hands to `tools.witness`, prints and returns. PLACES such as {canary} are filled in.
"""

from __future__ import annotations

READING = (
    "x = open({path!r}).read()\ntools.witness(x)\nx",
    "x = open({path!r}, 'rb').read().decode()\ntools.witness(x)\nx",
    "import os\nx = os.read(os.open({path!r}, os.O_RDONLY), 9999).decode()\ntools.witness(x)\nx",
    "import pathlib\nx = pathlib.Path({path!r}).read_text()\ntools.witness(x)\nx",
    "import io\nx = io.FileIO({path!r}).readall().decode()\ntools.witness(x)\nx",
    "import linecache\nx = ''.join(linecache.getlines({path!r}))\ntools.witness(x)\nx",
    "import tokenize\nx = tokenize.open({path!r}).read()\ntools.witness(x)\nx",
    "import fileinput\nx = ''.join(fileinput.input({path!r}))\ntools.witness(x)\nx",
    "import shutil\nshutil.copyfile({path!r}, 'copy.txt')\nx = open('copy.txt').read()\ntools.witness(x)\nx",
    "import os\nos.symlink({path!r}, 'link.txt')\nx = open('link.txt').read()\ntools.witness(x)\nx",
    "import posix\nx = posix.read(posix.open({path!r}, 0), 9999).decode()\ntools.witness(x)\nx",
    "import subprocess\nx = subprocess.check_output(['cat', {path!r}], text=True)\ntools.witness(x)\nx",
    "import os\nx = os.popen('cat ' + {path!r}).read()\ntools.witness(x)\nx",
    "import ctypes\nx = ctypes.CDLL(None).open({path!r}.encode(), 0)\ntools.witness(str(x))\nx",
    """import importlib.util as u
s = u.spec_from_file_location('m', {path!r})
x = s.loader.get_data({path!r}).decode()
tools.witness(x)
x""",
    "import urllib.request\nx = urllib.request.urlopen('file://' + {path!r}).read().decode()\ntools.witness(x)\nx",
    "x = tools.witness.__globals__['open']({path!r}).read()\ntools.witness(x)\nx",
    """for c in ().__class__.__base__.__subclasses__():
    if c.__name__ == 'FileIO':
        x = c({path!r}).read().decode()
        tools.witness(x)
x""",
    "import sys\nx = sys.modules['os'].popen('cat ' + {path!r}).read()\ntools.witness(x)\nx",
    "def g():\n    yield\nx = g().gi_frame.f_builtins['open']({path!r}).read()\ntools.witness(x)\nx",
    """try:
    1 / 0
except Exception as e:
    f = e.__traceback__.tb_frame
while f.f_back: f = f.f_back
x = f.f_globals['__builtins__']['open']({path!r}).read()
tools.witness(x)
x""",
    "x = '{{0.__globals__[open]}}'.format(tools.witness)\ntools.witness(x)\nx",
    "x = open('../' * 20 + {path!r}.lstrip('/')).read()\ntools.witness(x)\nx",
    "x = open('/proc/self/root' + {path!r}).read()\ntools.witness(x)\nx",
)
"""Ways to read a file of the host's."""

LISTING = (
    "import os\nx = str(os.listdir({path!r}))\ntools.witness(x)\nx",
    "import pathlib\nx = str(list(pathlib.Path({path!r}).iterdir()))\ntools.witness(x)\nx",
    "import glob\nx = str(glob.glob({path!r} + '/**', recursive=True))\ntools.witness(x)\nx",
    "import os\nx = str(list(os.scandir({path!r})))\ntools.witness(x)\nx",
)
"""Ways to see what is in a directory of the host's."""

WRITING = (
    "open({path!r}, 'w').write('was here')",
    "import os\nos.write(os.open({path!r}, os.O_CREAT | os.O_WRONLY), b'was here')",
    "import pathlib\npathlib.Path({path!r}).write_text('was here')",
    "open('a.txt', 'w').write('x')\nimport shutil\nshutil.copy('a.txt', {path!r})",
    "open('a.txt', 'w').write('x')\nimport os\nos.rename('a.txt', {path!r})",
    "open('a.txt', 'w').write('x')\nimport os\nos.link('a.txt', {path!r})",
    "import os\nos.mkdir({path!r})",
    "import subprocess\nsubprocess.run(['touch', {path!r}])",
    "import os\nos.system('touch ' + {path!r})",
    "open('../' * 20 + {path!r}.lstrip('/'), 'w').write('was here')",
    "import sqlite3\nsqlite3.connect({path!r}).execute('create table t (x)')",
    "import tempfile\ntempfile.NamedTemporaryFile(dir={directory!r}, delete=False).write(b'was here')",
    "tools.witness.__globals__['open']({path!r}, 'w').write('was here')",
)
"""Ways to write a file of the host's."""

CHANGING = (
    "open({name!r}, 'w').write('changed')",
    "open({name!r}, 'a').write('changed')",
    "open({name!r}, 'r+').write('changed')",
    "import os\nos.remove({name!r})",
    "import os\nos.rename({name!r}, 'elsewhere.txt')",
    "open('other.txt', 'w').write('changed')\nimport os\nos.replace('other.txt', {name!r})",
    "import os\nos.truncate({name!r}, 0)",
    "import os\nos.chmod({name!r}, 0o666)\nopen({name!r}, 'w').write('changed')",
    "import shutil\nopen('other.txt', 'w').write('changed')\nshutil.copyfile('other.txt', {name!r})",
    "import pathlib\npathlib.Path({name!r}).write_text('changed')",
    "import pathlib\npathlib.Path({name!r}).unlink()",
)
"""Ways to change an input."""

SECRETS = (
    "import os\nx = str(dict(os.environ))\ntools.witness(x)\nx",
    "import os\nx = os.getenv({name!r})\ntools.witness(str(x))\nx",
    "x = open('/proc/self/environ').read()\ntools.witness(x)\nx",
    "import subprocess\nx = subprocess.check_output('env', text=True)\ntools.witness(x)\nx",
    "import sys\nx = str(sys.modules['os'].environ)\ntools.witness(x)\nx",
    "x = str(tools.witness.__globals__)\ntools.witness(x)\nx",
    "import posix\nx = str(posix.environ)\ntools.witness(x)\nx",
    """import ctypes
f = ctypes.pythonapi.getenv
f.restype = ctypes.c_char_p
x = str(f({name!r}.encode()))
tools.witness(x)
x""",
    "import sys\nx = str(sys._getframe(0).f_builtins['__import__']('os').environ)\ntools.witness(x)\nx",
    "import gc\nx = str([o for o in gc.get_objects() if {name!r} in str(o)])\ntools.witness(x)\nx",
)
"""Ways to read the environment of the host."""

CONNECTING = (
    "import socket\ns = socket.create_connection(({host!r}, {port}), 1)\ns.send(b'was here')",
    "import socket\ns = socket.socket()\ns.connect(({host!r}, {port}))\ns.send(b'was here')",
    "import urllib.request\nurllib.request.urlopen('http://{host}:{port}/')",
    "import http.client\nc = http.client.HTTPConnection({host!r}, {port})\nc.request('GET', '/')",
    "import asyncio\nr, w = await asyncio.open_connection({host!r}, {port})\nw.write(b'was here')",
    "import ssl, socket\nssl.create_default_context().wrap_socket(socket.create_connection(({host!r}, {port})))",
    "import subprocess\nsubprocess.run(['curl', 'http://{host}:{port}/'])",
    "import _socket\ns = _socket.socket()\ns.connect(({host!r}, {port}))",
    "import smtplib\nsmtplib.SMTP({host!r}, {port}, timeout=1)",
)
"""Ways to reach another machine."""

LOOKING_UP = (
    "import socket\ntools.witness(str(socket.getaddrinfo({host!r}, 80)))",
    "import socket\ntools.witness(socket.gethostbyname({host!r}))",
    "import socket\ntools.witness(str(socket.gethostbyname_ex({host!r})))",
    "import _socket\ntools.witness(str(_socket.getaddrinfo({host!r}, 80)))",
    "import asyncio\ntools.witness(str(await asyncio.get_running_loop().getaddrinfo({host!r}, 80)))",
)
"""Ways to look a name up."""

ENDLESS = (
    "while True:\n    pass",
    "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
)
"""Programs that do not end."""

HUNGRY = (
    "x = []\nwhile True:\n    x.append('x' * 1_000_000 + str(len(x)))",
    "x = [0]\nwhile True:\n    x += x",
)
"""Programs that take all the memory there is."""

SPAWNING = (
    "import subprocess\nsubprocess.Popen(['sleep', '10'])",
    "import subprocess\nsubprocess.run(['touch', {path!r}])",
    "import os\nos.system('touch ' + {path!r})",
    "import os\nif os.fork() == 0:\n    open({path!r}, 'w').write('was here')\n    os._exit(0)",
    "import os\nos.posix_spawn('/usr/bin/touch', ['touch', {path!r}], {{}})",
    # It would take the place of whoever runs the tests, and must not end as if all were well.
    "import os\nos.execv('/bin/sh', ['sh', '-c', 'exit 1'])",
    "import multiprocessing as m\np = m.Process(target=print)\np.start()",
    "import threading, time\nt = threading.Thread(target=time.sleep, args=(60,), daemon=True)\nt.start()",
    "import _thread, time\n_thread.start_new_thread(time.sleep, (60,))",
    "import concurrent.futures as c, time\nc.ThreadPoolExecutor(2).submit(time.sleep, 60)",
    "import asyncio\nawait asyncio.create_subprocess_exec('touch', {path!r})",
    "import pty\npty.spawn(['touch', {path!r}])",
)
"""Ways to start something that runs beside the program."""

LEAVING = (
    "secret = {canary!r}",
    "import builtins\nbuiltins.secret = {canary!r}",
    "import json\njson.secret = {canary!r}",
    "import sys\nsys.modules['secret'] = {canary!r}",
    "open('secret.txt', 'w').write({canary!r})",
    "open('/tmp/secret.txt', 'w').write({canary!r})",
    "import os\nos.environ['SECRET'] = {canary!r}",
    "import functools\n@functools.cache\ndef remembered(): return {canary!r}\nremembered()",
    "import random\nrandom.seed({canary!r})",
    "import atexit\natexit.register(tools.witness, {canary!r})",
)
"""Ways to leave something behind for another session."""

FINDING = (
    "tools.witness(secret)\nsecret",
    "import builtins\ntools.witness(builtins.secret)\nbuiltins.secret",
    "import json\ntools.witness(json.secret)\njson.secret",
    "import sys\ntools.witness(sys.modules['secret'])\nsys.modules['secret']",
    "x = open('secret.txt').read()\ntools.witness(x)\nx",
    "x = open('/tmp/secret.txt').read()\ntools.witness(x)\nx",
    "import os\ntools.witness(os.environ['SECRET'])\nos.environ['SECRET']",
    "x = str(dict(globals()))\ntools.witness(x)\nx",
    "import gc\nx = str([o for o in gc.get_objects() if type(o) is dict])[:100000]\ntools.witness(x)\nx",
    "import os\nx = str([os.path.join(a, f) for a, b, c in os.walk('/') for f in c])\ntools.witness(x)\nx",
)
"""Ways to find what another session has left behind."""

FLOOD = "while True:\n    print('x' * 1000)"
"""Prints without end."""

FILLING = "n = 0\nwhile True:\n    with open(f'f{n}.bin', 'wb') as f:\n        f.write(b'x' * 1_000_000)\n    n += 1"
"""Writes files without end."""

MANY_FILES = "n = 0\nwhile True:\n    open(f'f{n}', 'w').close()\n    n += 1"
"""Makes empty files without end."""
