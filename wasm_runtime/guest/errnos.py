"""The numbers of errors, as on Linux: what models and people know, and what the other engine shows.

WASI has its own. Nothing here ever meets an error of libc's, so the numbers are only names.
"""

from __future__ import annotations

import errno
import gc
import os

from .patching import replace

_TABLE = """
EPERM=1 ENOENT=2 ESRCH=3 EINTR=4 EIO=5 ENXIO=6 E2BIG=7 ENOEXEC=8 EBADF=9 ECHILD=10 EAGAIN=11 ENOMEM=12 EACCES=13
EFAULT=14 EBUSY=16 EEXIST=17 EXDEV=18 ENODEV=19 ENOTDIR=20 EISDIR=21 EINVAL=22 ENFILE=23 EMFILE=24 ENOTTY=25 ETXTBSY=26
EFBIG=27 ENOSPC=28 ESPIPE=29 EROFS=30 EMLINK=31 EPIPE=32 EDOM=33 ERANGE=34 EDEADLK=35 ENAMETOOLONG=36 ENOLCK=37
ENOSYS=38 ENOTEMPTY=39 ELOOP=40 ENOMSG=42 EIDRM=43 ENOLINK=67 EPROTO=71 EMULTIHOP=72 EBADMSG=74 EOVERFLOW=75 EILSEQ=84
ENOTSOCK=88 EDESTADDRREQ=89 EMSGSIZE=90 EPROTOTYPE=91 ENOPROTOOPT=92 EPROTONOSUPPORT=93 ENOTSUP=95 EAFNOSUPPORT=97
EADDRINUSE=98 EADDRNOTAVAIL=99 ENETDOWN=100 ENETUNREACH=101 ENETRESET=102 ECONNABORTED=103 ECONNRESET=104 ENOBUFS=105
EISCONN=106 ENOTCONN=107 ESHUTDOWN=108 ETIMEDOUT=110 ECONNREFUSED=111 EHOSTUNREACH=113 EALREADY=114 EINPROGRESS=115
ESTALE=116 EDQUOT=122 ECANCELED=125 EOWNERDEAD=130 ENOTRECOVERABLE=131
"""
_LINUX = {name: int(number) for name, _, number in (pair.partition("=") for pair in _TABLE.split())}
_ALIASES = {"EWOULDBLOCK": "EAGAIN", "EOPNOTSUPP": "ENOTSUP"}
_NONE = ("ENOTCAPABLE",)
"""What Linux does not have."""

_real = {name: getattr(errno, name) for name in _LINUX}
_strerror = os.strerror


def _said(code: int, /) -> str:
    name = errno.errorcode.get(code)
    return f"Unknown error {code}" if name is None else _strerror(_real[name])


def _table() -> dict[int, type[OSError]]:
    """The interpreter's own table: which number makes an OSError an error of which type."""
    for found in gc.get_objects():
        if type(found) is dict and found.get(_real["ENOENT"]) is FileNotFoundError:
            return found
    msg = "the interpreter's table of errors was not found"
    raise RuntimeError(msg)


_types = _table()
_known = {_LINUX[name]: _types[number] for name, number in _real.items() if number in _types}


def install() -> None:
    """Change the numbers. No module may have taken them with it already."""
    for name in (*_NONE, *_ALIASES, *_LINUX):
        delattr(errno, name)
    for name, number in _LINUX.items():
        setattr(errno, name, number)
    for alias, name in _ALIASES.items():
        setattr(errno, alias, _LINUX[name])
    names: dict[int, str] = errno.errorcode  # type: ignore[assignment]  # it is one
    names.clear()
    names.update((number, name) for name, number in _LINUX.items())
    # Until the library is loaded there are real errors too, of files that are looked for: their numbers are none of
    # Linux's, and keep their types.
    _types.update(_known)
    replace(_strerror, _said)


def settle() -> None:
    """There are no real errors any more: forget their numbers."""
    _types.clear()
    _types.update(_known)
