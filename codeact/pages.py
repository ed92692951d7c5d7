"""Pages for people: one file of HTML that needs no other, runs nothing and asks nobody.

Markup is made of elements, and whatever is not markup by its type is text: it is escaped, and what a reader would not
see, or what would turn a line around, is shown. A policy in the page itself keeps a browser from loading and running
anything, should that ever fail.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
from pathlib import Path

from codeact.databases import OWNER_ONLY
from codeact.renderings import visible


class Html(str):
    """Markup. Only `element` and what is made of it should make any."""

    __slots__ = ()


BREAK = Html("<br>")


def element(name: str, *children: str, **attributes: str | int | bool | None) -> Html:
    """An element.

    Args:
        name: of the element.
        *children: what it holds; all that is no `Html` is text.
        **attributes: by their names, `_` for `-` and one more at the end where Python needs it; None and False leave an
            attribute out, True gives it no value.
    """
    named = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    return Html(f"<{name}{named}>{markup(*children)}</{name}>")


def markup(*children: str) -> Html:
    """What stands side by side, as markup; all that is no `Html` is text."""
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def page(title: str, *body: str, style: str = "") -> str:
    """A whole page.

    Args:
        title: of the page.
        *body: what it shows; all that is no `Html` is text.
        style: rules that it has beside those of all pages.
    """
    rules = f"{STYLE}{style}"
    digest = base64.b64encode(hashlib.sha256(rules.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"{element('title', title)}\n<style>{rules}</style></head>\n{element('body', *body)}</html>\n"
    )


def write_page(path: Path, text: str) -> None:
    """Write a page into a file, which only its owner may read where it is made here: it may hold what nobody else may see.

    Raises:
        OSError: it cannot be written.
    """
    with open(path, "w", encoding="utf-8", opener=_for_its_owner) as file:
        file.write(text)


def _for_its_owner(path: str, flags: int) -> int:
    return os.open(path, flags, OWNER_ONLY)


def _attribute(name: str, value: str | int | bool) -> str:
    called = name.rstrip("_").replace("_", "-")
    return f" {called}" if value is True else f' {called}="{_escaped(str(value))}"'


def _escaped(text: str) -> str:
    return html.escape(visible(text))


STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1d2125; --faint: #555c64; --line: #d5d9de; --box: #f4f5f7;
  --good: #17692f; --bad: #b3121d; --wary: #7a4b00; --link: #0b57b7 }
@media (prefers-color-scheme: dark) {
  :root { --page: #15181c; --text: #e4e6e9; --faint: #a5adb6; --line: #3a4048; --box: #1f2329;
    --good: #6fcf8a; --bad: #ff8a85; --wary: #f0b95a; --link: #8ab8ff } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--text); background: var(--page); overflow-wrap: anywhere }
a { color: var(--link) }
pre { background: var(--box); padding: 1rem; overflow-x: auto; font-size: 13px; border-radius: 6px }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .5rem; border-top: 1px solid var(--line) }
small { color: var(--faint) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 } .wary { color: var(--wary) }
.faint { color: var(--faint) }
@media print { body { max-width: none; margin: 0 } pre { white-space: pre-wrap } }
"""
"""Rules of all pages."""
