"""The shelf: what an engine has made of texts, kept for the next time that the same tenant runs them.

A shelf belongs to one sandbox, and each tenant has a part of it. What is made of a text depends on nothing else, and
yet it is nobody else's: the interpreter writes into code what types it has met there, and a program that is compiled
in no time tells that somebody has run it before.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Any

LONGEST = 16 * 1024
"""Characters of a text that is kept: what is made of one takes some ten times as many bytes."""

MOST = 128
"""Texts that are kept, of all tenants together; the one that was asked for the longest ago makes room."""


class Shelf:
    """What was made of texts, for one sandbox. It may be used from many threads: each step is one of the interpreter's."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def of(self, tenant: str | None) -> Part:
        """The part of one tenant; None is a tenant too."""
        return Part(self._kept, tenant)


class Part:
    """What is one tenant's."""

    __slots__ = ("_kept", "_tenant")

    def __init__(self, kept: dict[Hashable, Any], tenant: str | None) -> None:
        self._kept = kept
        self._tenant = tenant

    def find(self, text: str, where: Hashable = None) -> Any:
        """What was made of a text; None where it is not there.

        Args:
            text: the text.
            where: what else it depends on what is made of it.
        """
        key = self._tenant, text, where
        found = self._kept.pop(key, None)
        if found is not None:
            self._kept[key] = found  # now it is the last to go
        return found

    def keep(self, text: str, where: Hashable, made: object) -> None:
        """Keep what was made of a text, unless that is too long."""
        if len(text) > LONGEST:
            return
        kept = self._kept
        kept[self._tenant, text, where] = made
        while len(kept) > MOST:
            with suppress(RuntimeError, StopIteration):  # another thread was faster
                kept.pop(next(iter(kept)), None)
