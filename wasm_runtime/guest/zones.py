"""The time zones, carried inside: `zoneinfo` would look for them on a disk."""

from __future__ import annotations

import importlib.resources
import io
import zoneinfo
from importlib.resources.abc import Traversable

_zones: dict[str, bytes] = {}


def _load(key: str) -> io.BytesIO:
    try:
        return io.BytesIO(_zones[key])
    except KeyError:
        msg = f"No time zone found with key {key}"
        raise zoneinfo.ZoneInfoNotFoundError(msg) from None


def _available() -> set[str]:
    """The names of all time zones."""
    return set(_zones)


def install() -> None:
    """Read the data of the package `tzdata`, which is at hand only while the component is made."""
    same: dict[bytes, bytes] = {}
    root = importlib.resources.files("tzdata") / "zoneinfo"
    for name in (importlib.resources.files("tzdata") / "zones").read_text().split():
        data = _file(root, name).read_bytes()
        _zones[name] = same.setdefault(data, data)
    common = zoneinfo._common  # noqa: SLF001  # both implementations load through it
    common.load_tzdata = _load  # type: ignore[assignment]
    zoneinfo.reset_tzpath([])
    zoneinfo.available_timezones = _available


def _file(root: Traversable, name: str) -> Traversable:
    for part in name.split("/"):
        root /= part
    return root
