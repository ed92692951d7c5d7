"""Modules of the standard library that this engine does not have, with what to use instead.

What no sandbox can have, and the well-known packages, are in `wasm_runtime.guest.advice`, which the other engine
reads too.
"""

from __future__ import annotations

from wasm_runtime.guest.advice import NETWORK

_ARGUMENTS = "there is no command line; give the values names"
_ASSERT = "use assert"
_CODE = "the program's own text is not at hand; use functions and data"
_DEBUG = "print what you want to see"
_IMPORT = "write an import statement"
_JSON = "use json"
_MAIL = "use email.utils, and text and bytes methods"
_PROCESSES = "there are no processes; run the work here, or call tools"
_TIMING = "use timeit or time.perf_counter"
_XML = "use xml.etree.ElementTree"

INSTEAD: dict[str, str] = {
    "argparse": _ARGUMENTS,
    "atexit": "use try/finally",
    "bdb": _DEBUG,
    "cProfile": _TIMING,
    "builtins": "call the builtin by its name",
    "code": _CODE,
    "codeop": _CODE,
    "contextvars": "pass the value as an argument, or keep it in a dict",
    "copyreg": _JSON,
    "dbm": "use a dict",
    "dis": _CODE,
    "doctest": _ASSERT,
    "email.header": _MAIL,
    "email.message": _MAIL,
    "email.mime": _MAIL,
    "email.parser": _MAIL,
    "encodings": "name the encoding: text.encode('utf-8')",
    "faulthandler": _DEBUG,
    "ftplib": NETWORK,
    "gc": "memory is taken care of",
    "getopt": _ARGUMENTS,
    "getpass": "nobody answers; the data comes from the tools",
    "gettext": "write the text itself",
    "http.client": NETWORK,
    "http.cookiejar": NETWORK,
    "http.cookies": NETWORK,
    "http.server": NETWORK,
    "imaplib": NETWORK,
    "importlib": _IMPORT,
    "linecache": _CODE,
    "locale": "use f-strings: f'{number:,.2f}'",
    "marshal": _JSON,
    "modulefinder": _IMPORT,
    "optparse": _ARGUMENTS,
    "pdb": _DEBUG,
    "pickle": _JSON,
    "pickletools": _JSON,
    "pkgutil": _IMPORT,
    "poplib": NETWORK,
    "profile": _TIMING,
    "pstats": _TIMING,
    "py_compile": _CODE,
    "pyclbr": _CODE,
    "pydoc": "use help()",
    "runpy": _IMPORT,
    "select": NETWORK,
    "selectors": NETWORK,
    "shelve": "use a dict",
    "signal": _PROCESSES,
    "site": _IMPORT,
    "smtplib": NETWORK,
    "socket": NETWORK,
    "socketserver": NETWORK,
    "sqlite3": "keep the rows in lists of dicts, with sorted, itertools.groupby and collections.Counter",
    "sre_compile": "use re",
    "sre_constants": "use re",
    "sre_parse": "use re",
    "subprocess": _PROCESSES,
    "symtable": _CODE,
    "sysconfig": "use sys.version_info",
    "telnetlib": NETWORK,
    "token": _CODE,
    "tokenize": _CODE,
    "trace": _TIMING,
    "tracemalloc": "use sys.getsizeof",
    "unittest": _ASSERT,
    "urllib.error": NETWORK,
    "urllib.request": NETWORK,
    "urllib.robotparser": NETWORK,
    "wsgiref": NETWORK,
    "xml.dom": _XML,
    "xml.parsers": _XML,
    "xml.sax": _XML,
    "xmlrpc": NETWORK,
}

_ENVIRONMENT = "there are no environment variables here; the data comes from the tools"
_HOME = "there is no home directory; the workspace is the current directory"

NAMES: dict[str, str] = {
    "os.environ": _ENVIRONMENT,
    "os.environb": _ENVIRONMENT,
    "os.getenv": _ENVIRONMENT,
    "os.putenv": _ENVIRONMENT,
    "os.path.expandvars": _ENVIRONMENT,
    "os.path.expanduser": _HOME,
    **dict.fromkeys(("os.fork", "os.kill", "os.popen", "os.system", "os.getppid"), _PROCESSES),
}
"""Names of modules that are there, which are not in them here, with the reason."""
