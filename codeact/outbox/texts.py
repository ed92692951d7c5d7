"""Texts that are put on record with an entry: what people give, and what exceptions say."""

from __future__ import annotations

from codeact.renderings import printable

_ERROR = 1000
"""Characters of an exception's text that are kept."""


def check_text(what: str, text: object) -> None:
    """Check that a text can be kept, and says something.

    Args:
        what: the argument that it was given as.
        text: it.

    Raises:
        TypeError: it is no text.
        ValueError: it is empty, or cannot be encoded.
    """
    if not isinstance(text, str):
        msg = f"{what}={text!r:.200}: expected a text"
        raise TypeError(msg)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = f"{what}={text!r:.200}: {error}"
        raise ValueError(msg) from error
    if not text.strip():
        msg = f"{what}={text!r}: must not be empty"
        raise ValueError(msg)


def reason_of(text: str | None) -> str | None:
    """A reason that was given; None where none was.

    Raises:
        TypeError: it is no text.
        ValueError: it has only spaces, or cannot be encoded.
    """
    if text is not None and text != "":
        check_text("reason", text)
    return text or None


def error_of(error: BaseException) -> str:
    """An exception in words."""
    return printable(f"{type(error).__name__}: {_said(error)}")


def _said(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - what a host's object does when it is read
        return "(its text cannot be made)"
    return text if len(text) <= _ERROR else f"{text[:_ERROR]}…"
