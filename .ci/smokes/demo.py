"""The demo, played on both engines."""

from rich.console import Console

from codeact import example

assert example.demo().play(Console()).ok
