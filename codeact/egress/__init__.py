"""The one way out to other machines: requests to named destinations, made by the host.

The program asks for a URL; the host decides, attaches the credential and makes the request. The program never holds
a credential, and learns nothing of destinations that were not named. Making requests needs the extra `http`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from codeact.egress.rules import Allow, Refused

if TYPE_CHECKING:
    from codeact.egress.tool import Response, http_tool

__all__ = ["Allow", "Refused", "Response", "http_tool"]


def __getattr__(name: str) -> object:
    # Rules are read where no request is made, and where the extra is not installed.
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from codeact.egress import tool  # noqa: PLC0415 - see above

    return getattr(tool, name)
