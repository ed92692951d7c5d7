"""The page of a trace in a real browser: it fits, it is quiet, it asks nobody, and nothing in it runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
import scene

from codeact.policy import Policy
from codeact.trace import page_of
from codeact.walls import Verdict, report

PATH = chromium.found()
WINDOWS = ((360, 740), (1280, 800))

pytestmark = pytest.mark.skipif(PATH is None, reason="no Chromium is installed here")

_WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
_OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true })"
_CONTRAST = """
(() => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = color => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = color; paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data] };
  const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(c => { c /= 255;
    return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4 }); return .2126 * x + .7152 * y + .0722 * z };
  const under = node => { for (let at = node; at; at = at.parentElement) {
    const color = rgb(getComputedStyle(at).backgroundColor); if (color[3] === 255) return color }
    return [255, 255, 255, 255] };
  let least = 99, where = '';
  for (const node of document.querySelectorAll('body *')) {
    if (![...node.childNodes].some(child => child.nodeType === 3 && child.data.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(under(node))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < least) { least = ratio; where = node.outerHTML.slice(0, 100) }
  }
  return [least, where];
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    assert PATH is not None
    with chromium.running(PATH, tmp_path_factory.mktemp("chromium")) as running:
        yield running


def _quiet(page: chromium.Page, url: str) -> None:
    """Nothing was written to the console, nothing was asked for beside the page, and nothing ran or failed."""
    noise = page.said(
        "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"
    )
    assert noise == []
    assert [asked["request"]["url"] for asked in page.said("Network.requestWillBeSent")] == [url]
    assert page.said("Page.frameRequestedNavigation", "Page.windowOpen") == []
    frames = page.ask("Page.getFrameTree")["frameTree"]
    assert "childFrames" not in frames
    assert page.evaluate("window.pwned") is None


def _fits(page: chromium.Page) -> None:
    page.evaluate(_OPEN)
    for width, height in WINDOWS:
        page.set(width, height)
        wide, window = page.evaluate(_WIDTHS)
        assert wide <= window == width


def test_the_page_fits_and_is_quiet(browser: chromium.Browser, tmp_path: Path) -> None:
    shelf, entries = scene.story()
    file = tmp_path / "page.html"
    file.write_text(page_of(scene.trace(shelf, entries)), encoding="utf-8")
    page = browser.open(file.as_uri())
    _fits(page)
    for scheme in ("light", "dark"):
        page.set(360, 740, scheme)
        ratio, where = page.evaluate(_CONTRAST)
        assert ratio >= 4.5, where
    backgrounds = set()
    for scheme in ("light", "dark"):
        page.set(360, 740, scheme)
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2
    _quiet(page, file.as_uri())


def test_a_link_opens_the_call_that_it_leads_to(browser: chromium.Browser, tmp_path: Path) -> None:
    shelf, entries = scene.story()
    file = tmp_path / "page.html"
    file.write_text(page_of(scene.trace(shelf, entries)), encoding="utf-8")
    page = browser.open(file.as_uri())
    dangling = "[...document.links].filter(one => !document.getElementById(one.hash.slice(1))).map(one => one.href)"
    assert page.evaluate(dangling) == []
    page.evaluate("document.querySelector('a[href=\"#r2c5\"]').click()")
    assert page.evaluate("document.querySelector(':target').id") == "r2c5"


ATTACKS: tuple[Any, ...] = (
    "<script>window.pwned = 1</script>",
    "</code></pre></title></style><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'><svg onload='window.pwned = 1'>",
    "<iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>",
    "<link rel=stylesheet href=https://attacker.example/x.css><style>@import 'https://attacker.example/y.css'; * {display: none}</style>",
    "<meta http-equiv=refresh content='0; url=https://attacker.example/'><base href=https://attacker.example/>",
    "<a href='javascript:window.pwned = 1' autofocus onfocus='window.pwned = 1'>x</a>",
    "\" onmouseover='window.pwned = 1' x=\"",
    "<!-- ]]> --!> <![CDATA[ <plaintext> <textarea> <template>",
    "\u202e\u2066\u200f\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05d0\u05d1 \u202ddrow",
    "a" * 5_000,
    "\U0001f469\u200d\U0001f4bb" * 200,
    "Z\u0351\u0350\u034f" * 300,
    "x\n" * 2_000,
    "\x00\x1b[31m\x9b\ud800",
)


def test_hostile_text_runs_nowhere(browser: chromium.Browser, tmp_path: Path) -> None:
    shelf, entries = scene.hostile(ATTACKS)
    file = tmp_path / "page.html"
    file.write_text(page_of(scene.trace(shelf, entries)), encoding="utf-8")
    page = browser.open(file.as_uri())
    _fits(page)
    for name in ("script", "img", "iframe", "link", "base", "form", "object", "embed", "input", "template", "textarea"):
        assert page.evaluate(f"document.getElementsByTagName('{name}').length") == 0
    assert page.evaluate("[...document.links].every(one => one.getAttribute('href').startsWith('#'))")
    _quiet(page, file.as_uri())


def test_the_policy_of_a_page_holds_alone(browser: chromium.Browser, tmp_path: Path) -> None:
    """Were something not escaped one day, the browser would still not run it, nor ask anybody."""
    shelf, entries = scene.story()
    text = page_of(scene.trace(shelf, entries))
    hole = "".join(attack for attack in ATTACKS[:5])
    file = tmp_path / "page.html"
    file.write_text(text.replace("<main>", f"<main>{hole}"), encoding="utf-8")
    page = browser.open(file.as_uri())
    assert page.evaluate("window.pwned") is None
    refused = {entry["entry"]["text"].partition("'")[0] for entry in page.said("Log.entryAdded")}
    assert refused, "the browser says that it refused nothing"
    asked = {asked["request"]["url"] for asked in page.said("Network.requestWillBeSent")}
    answered = {got["response"]["url"] for got in page.said("Network.responseReceived")}
    assert answered <= {file.as_uri(), "about:srcdoc"}, asked


def test_the_page_of_the_walls_fits_too(browser: chromium.Browser, tmp_path: Path) -> None:
    attack = "".join(ATTACKS[:9])
    policy = Policy.parse('[policy]\nname = "<b>support</b>"\nowner = "us"\nreview = 2999-01-01\n')
    verdicts = [Verdict(1, attack, "holds", attack, 0.1), Verdict(2, "w" * 500, "broken", "x" * 500, 0.1)]
    file = tmp_path / "walls.html"
    file.write_text(report.page_of(policy, verdicts), encoding="utf-8")
    page = browser.open(file.as_uri())
    _fits(page)
    _quiet(page, file.as_uri())
