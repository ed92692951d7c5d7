"""Which addresses a name leads to, and whether a request may go there.

The name is looked up once, here, and the connection is made to the address that was checked: a second look-up, as
an HTTP client would make, could be given another answer (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from codeact.egress.rules import Refused

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Gives the addresses of a host's name, as texts."""

_TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv6 addresses that stand for IPv4 ones (RFC 6052, RFC 8215)."""

_ASSIGNED = IPv6Network("2000::/3")
"""All IPv6 addresses that are the public Internet's; `is_global` is true of some that are not."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses that the operating system knows of a host."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def checked(host: str, port: int, resolver: Resolver, *, private: bool) -> str:
    """An address of a host to which a request may go.

    Args:
        host: its name, or an address.
        port: where to.
        resolver: looks the name up.
        private: whether addresses that are not public are fine.

    Raises:
        Refused: there is none, or one of its addresses is not public: names with mixed answers are how
            rebinding is done.
    """
    try:
        found = await resolver(host, port)
    except OSError:
        found = []
    if not found:
        msg = f"{host} has no address"
        raise Refused(msg)
    if not private:
        for address in found:
            if not is_public(address):
                msg = f"{host} leads to an address that is not public; only destinations marked private may"
                raise Refused(msg)
    return found[0]


def is_public(address: str) -> bool:
    """Whether an address is one of the public Internet, whatever way it is written or wrapped."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is None and any(found in network for network in _TRANSLATED):
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
        if found not in _ASSIGNED:
            return False
    return found.is_global and not found.is_multicast
