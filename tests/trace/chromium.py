"""A Chromium without a window, spoken to through a pipe."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds that an answer may take on a machine that has much else to do."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


def found() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@dataclass
class Page:
    """What a page did, and what can be asked of it.

    Attributes:
        events: what the browser told of it.
    """

    tell: Any
    session: str
    events: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, method: str, **params: Any) -> Any:
        return self.tell(method, params, self.session)

    def evaluate(self, expression: str) -> Any:
        """What an expression of ours gives in the page. The page's policy is not asked: a debugger is no page."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def set(self, width: int, height: int, scheme: str = "light") -> None:
        """How large the window is, and whether it is dark."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        done = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(done["data"]))

    def said(self, *methods: str) -> list[dict[str, Any]]:
        """The events of some kinds."""
        return [event["params"] for event in self.events if event["method"] in methods]


class Browser:
    """A running Chromium."""

    def __init__(self, path: str, folder: Path) -> None:
        # What it reads from is its descriptor 3, and what it writes to its descriptor 4.
        own_read, its_write = os.pipe()
        its_read, own_write = os.pipe()
        shell = f'exec "$0" "$@" 3<&{its_read} 4>&{its_write}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", shell, path, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(its_read, its_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(its_read)
        os.close(its_write)
        self._read, self._write = own_read, own_write
        self._rest = b""
        self._number = 0
        self._pages: dict[str, Page] = {}

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def open(self, url: str) -> Page:
        """A page, loaded."""
        target = self._tell("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self._tell("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self._tell, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask("Page.navigate", url=url)
        until = time.monotonic() + PATIENCE
        while not page.said("Page.loadEventFired"):
            self._take(until)
        return page

    def _tell(self, method: str, params: dict[str, Any], session: str | None = None) -> Any:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._take(until)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _take(self, until: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            assert ready, "Chromium did not answer in time"
            more = os.read(self._read, 1 << 20)
            assert more, "Chromium has ended"
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.events.append(message)
        return message


@contextmanager
def running(path: str, folder: Path) -> Iterator[Browser]:
    """A Chromium that ends with the block."""
    browser = Browser(path, folder)
    try:
        yield browser
    finally:
        browser.close()
