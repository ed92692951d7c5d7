"""A policy: what a deployment grants, as one text that people can review.

A policy names the boundary, what may be used, who may be talked to, what may leave, how long anything lives, and
who answers for it. What it does not name is not granted.
"""

from codeact.policy.document import Policy, PolicyError, PolicyWarning
from codeact.policy.wording import page

__all__ = ["Policy", "PolicyError", "PolicyWarning", "page"]
