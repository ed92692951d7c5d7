"""The code cache: what an engine has compiled, kept for the next time that the same tenant runs the same text.

A cache belongs to one sandbox, and each tenant has a part of it. What a text is compiled to depends on nothing else,
and yet it is nobody else's: the interpreter writes into code what types it has met there, and a program that is
compiled in no time tells that somebody has run it before. For the same reason a tenant who runs many texts makes room
by his own, as long as others keep fewer.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Hashable
from threading import Lock
from typing import Any

LONGEST = 16 * 1024
"""Characters of a text that is kept: what is made of one takes some ten times as many bytes."""

MOST = 256
"""Texts that are kept, of all tenants together."""


class CodeCache:
    """The compiled programs of one sandbox. It may be used from many threads."""

    def __init__(self) -> None:
        self.clear()
        _caches.add(self)

    def clear(self) -> None:
        """Begin with nothing."""
        self._tenants: dict[str | None, dict[Hashable, Any]] = {}
        self._lock = Lock()
        self._kept = 0

    def of(self, tenant: str | None) -> TenantCache:
        """The part of one tenant; None is a tenant too."""
        return TenantCache(self, tenant)

    def find(self, tenant: str | None, key: Hashable) -> Any:
        """What a tenant has kept under a key; None where it is not there."""
        with self._lock:
            own = self._tenants.get(tenant)
            found = None if own is None else own.pop(key, None)
            if own is not None and found is not None:
                own[key] = found  # now it is the last to go
        return found

    def keep(self, tenant: str | None, key: Hashable, made: object) -> None:
        """Keep what was made; whoever keeps the most gives what he has not asked for the longest."""
        with self._lock:
            own = self._tenants.setdefault(tenant, {})
            self._kept += own.pop(key, None) is None
            own[key] = made
            while self._kept > MOST:
                most = max(self._tenants, key=lambda name: len(self._tenants[name]))
                largest = self._tenants[most]
                del largest[next(iter(largest))]
                self._kept -= 1
                if not largest:
                    del self._tenants[most]

    def __len__(self) -> int:
        return self._kept


class TenantCache:
    """What is one tenant's."""

    __slots__ = ("_cache", "_tenant")

    def __init__(self, cache: CodeCache, tenant: str | None) -> None:
        self._cache = cache
        self._tenant = tenant

    def find(self, text: str, where: Hashable = None) -> Any:
        """What was made of a text; None where it is not there.

        Args:
            text: the text.
            where: what else it depends on what is made of it.
        """
        return self._cache.find(self._tenant, (text, where))

    def keep(self, text: str, where: Hashable, made: object) -> None:
        """Keep what was made of a text, unless that is too long."""
        if len(text) <= LONGEST:
            self._cache.keep(self._tenant, (text, where), made)


_caches: weakref.WeakSet[CodeCache] = weakref.WeakSet()


def _clear() -> None:
    """In a forked child: another thread of the parent's may have been in the middle of one, and have held its lock."""
    for cache in list(_caches):
        cache.clear()


os.register_at_fork(after_in_child=_clear)
