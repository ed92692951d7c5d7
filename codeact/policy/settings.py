"""The parts of a policy. What a text does not set is here, and is never weaker than what a sandbox does by itself."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from codeact.egress.rules import Allow
from codeact.engines import engine_names
from codeact.limits import Limits

Place = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]
"""A path of the host's."""


class Part(BaseModel):
    """What all parts have in common: they are frozen, and what they do not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Responsible(Part):
    """Who answers for a policy.

    Attributes:
        name: what it is called.
        owner: who answers for it.
        review: the day by which somebody must have looked at it again.
    """

    name: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    review: date


class Boundary(Part):
    """What stands between a program and the host.

    Attributes:
        engine: the name of an engine. Where it cannot be set up, nothing runs.
    """

    engine: str = "wasm"

    @field_validator("engine")
    @classmethod
    def _known(cls, given: str) -> str:
        if given not in engine_names():
            msg = f"there is no such engine here; there are {', '.join(engine_names())}"
            raise ValueError(msg)
        return given


class Workspace(Part):
    """The files of a program, which are in memory only.

    Attributes:
        bytes: what all files together may hold.
        files: how many there may be.
        inputs: files of the host's that every program can read and none can change: where each is found in the
            workspace, and where on the host, seen from the policy's own directory.
    """

    bytes: int = Field(default=Limits().workspace, gt=0)
    files: int = Field(default=Limits().files, gt=0)
    inputs: dict[str, Place] = {}


class Destination(Part):
    """A place on the network and what may be done there; see `codeact.egress.Allow`."""

    origin: str
    methods: list[str] = ["GET", "HEAD"]
    path: str = "/**"
    account: str | None = None
    private: bool = False

    @model_validator(mode="after")
    def _sound(self) -> Self:
        self.rule()
        return self

    def rule(self) -> Allow:
        """As the rule of an `http_tool`."""
        return Allow(self.origin, tuple(self.methods), self.path, self.account, self.private)


class Network(Part):
    """Who may be talked to.

    Attributes:
        destinations: the only ones; none means that there is no network.
        timeout: seconds for a request.
        max_bytes: bytes of an answer.
    """

    destinations: list[Destination] = []
    timeout: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    max_bytes: int = Field(default=1_000_000, gt=0)


class Credentials(Part):
    """What a program holds to prove who it is: nothing, ever. The host attaches credentials outside."""

    inside: Literal["none"] = "none"


class Results(Part):
    """What may leave.

    Attributes:
        characters: of the value, and of the output, that a model is shown.
        file_types: endings of names of files that may leave, such as `.csv`; None for all.
    """

    characters: int = Field(default=Limits().shown, gt=0)
    file_types: list[str] | None = None

    @field_validator("file_types")
    @classmethod
    def _endings(cls, given: list[str] | None) -> list[str] | None:
        Limits(file_types=None if given is None else tuple(given))
        return given


class Lifecycle(Part):
    """How long a session's world lives. Every session has one of its own, and no two tenants share one.

    Attributes:
        idle: seconds without a program, after which it is destroyed.
        lifetime: seconds after which it is destroyed in any case.
    """

    idle: float = Field(default=Limits().session_idle, gt=0)
    lifetime: float = Field(default=Limits().session_lifetime, gt=0)


class Record(Part):
    """Where it is put on record what happens; see `codeact.audit`.

    Attributes:
        file: a file that JSON lines are appended to, seen from the policy's own directory; None for none.
        bytes: what it may hold. A full log stops the runs that need it.
        durable: whether every line waits until the disk has it.
        content: whether arguments, results and programs are in it too, and not only digests of them.
    """

    file: Place | None = None
    bytes: int = Field(default=1_000_000_000, ge=10_000)
    durable: bool = False
    content: bool = False
