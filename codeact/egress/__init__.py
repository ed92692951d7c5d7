"""The one way out to other machines: requests to named destinations, made by the host.

The program asks for a URL; the host decides, attaches the credential and makes the request. The program never holds
a credential, and learns nothing of destinations that were not named.
"""

from codeact.egress.rules import Allow, Refused
from codeact.egress.tool import Response, http_tool

__all__ = ["Allow", "Refused", "Response", "http_tool"]
