"""`ipaddress` and `email.utils`."""

from __future__ import annotations

import datetime as dt
import email.utils
from typing import Any

from codeact.engines.restricted.library.copies import copied
from codeact.engines.restricted.library.parts import Parts, pick, take

_LONGEST = 20_000
"""Characters of addresses and dates: reading them takes time with the square of it."""


def make_ipaddress(parts: Parts) -> dict[str, Any]:
    """The names of `ipaddress`; running through a network is charged for every address."""
    return pick(
        copied(parts, "ipaddress"),
        "AddressValueError IPV4LENGTH IPV6LENGTH IPv4Address IPv4Interface IPv4Network IPv6Address IPv6Interface "
        "IPv6Network NetmaskValueError collapse_addresses get_mixed_type_key ip_address ip_interface ip_network "
        "summarize_address_range v4_int_to_packed v6_int_to_packed",
    )


def make_email_utils(parts: Parts) -> dict[str, Any]:
    """The names of `email.utils`, by the clock and the chance of the world."""
    world = parts.world

    def judged(name: str) -> Any:
        real = getattr(email.utils, name)

        def read(text: Any, *args: Any, **named: Any) -> Any:
            text = list(text) if name == "getaddresses" else text
            if sum(map(len, text if isinstance(text, list) else [text or ""])) > _LONGEST:
                msg = f"addresses and dates of at most {_LONGEST:,} characters are read"
                raise ValueError(msg)
            return real(text, *args, **named)

        read.__name__ = read.__qualname__ = name
        return read

    def formatdate(timeval: Any = None, localtime: bool = False, usegmt: bool = False) -> str:
        seconds = world.now() / 1e9 if timeval is None else timeval
        made = email.utils.formatdate(seconds, usegmt=usegmt)
        return made.replace("-0000", "+0000") if localtime and not usegmt else made

    def localtime(dt_: Any = None, *_: Any) -> dt.datetime:
        if dt_ is None:
            return parts.load("datetime").datetime.now(dt.UTC)  # type: ignore[no-any-return]
        return (dt_ if dt_.tzinfo is not None else dt_.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)  # type: ignore[no-any-return]

    def make_msgid(idstring: Any = None, domain: str = "sandbox") -> str:
        middle = f".{idstring}" if idstring else ""
        return f"<{world.now() // 10_000_000}.{world.chance.getrandbits(64)}{middle}@{domain}>"

    reading = ("getaddresses", "parseaddr", "parsedate", "parsedate_to_datetime", "parsedate_tz")
    return {
        **take("email.utils", "format_datetime formataddr mktime_tz quote unquote"),
        **{name: judged(name) for name in reading},
        "formatdate": formatdate,
        "localtime": localtime,
        "make_msgid": make_msgid,
    }
