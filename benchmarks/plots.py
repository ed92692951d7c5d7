"""Drawings of what was measured, as SVG files that are the same for the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Found = Mapping[str, Any]
"""A row of the JSON that the suites write."""

COLOURS = {"wasm": "#1f6feb", "wasm, 2 workers": "#79b0ff", "restricted": "#2da44e"}
OTHER = "#9aa4b1"
WIDTH = 7.0
BAR = 0.28
"""Inches."""


def draw(suites: Mapping[str, Sequence[Found]], directory: Path) -> Iterator[Path]:
    """Draw each suite into a file of its own; gives their paths.

    Args:
        suites: the rows of each, by name, as in the JSON.
        directory: where they go; it is made.

    Raises:
        ImportError: matplotlib is not installed.
    """
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    mpl.use("svg")
    directory.mkdir(parents=True, exist_ok=True)
    for suite, rows in suites.items():
        cases = [(name, list(group)) for name, group in groupby(rows, key=lambda row: row["case"])]
        panels = [(name, group) for name, group in cases if sum(row["spread"] is not None for row in group) > 1]
        if panels:
            path = directory / f"{suite}.svg"
            with mpl.rc_context({"svg.hashsalt": "codeact", "svg.fonttype": "none", "font.size": 9}):
                _draw(panels, path)
            yield path


def _draw(panels: Sequence[tuple[str, Sequence[Found]]], path: Path) -> None:
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra

    heights = [2.6 if group[0]["points"] else 0.6 + BAR * len(group) for _, group in panels]
    figure, axes = plt.subplots(
        len(panels),
        1,
        figsize=(WIDTH, sum(heights) + 0.3),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for (name, group), (ax,) in zip(panels, axes, strict=True):
        ax.set_title(name, loc="left")
        (_curves if group[0]["points"] else _bars)(ax, group)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def _bars(ax: Axes, group: Sequence[Found]) -> None:
    """Medians, shortest on top, with what lies between a tenth and nine tenths, and the targets."""
    rows = sorted((row for row in group if row["spread"] is not None), key=lambda row: -row["spread"]["median"])
    medians = [row["spread"]["median"] for row in rows]
    spreads = [
        [max(row["spread"]["median"] - row["spread"]["p10"], 0) for row in rows],
        [max(row["spread"]["p90"] - row["spread"]["median"], 0) for row in rows],
    ]
    colours = [COLOURS.get(row["who"], OTHER) for row in rows]
    ax.barh([row["who"] for row in rows], medians, xerr=spreads, color=colours, ecolor="#57606a", height=0.7)
    if min(medians) > 0 and max(medians) > 20 * min(medians):
        ax.set_xscale("log")
    for place, row in enumerate(rows):
        if row["target"] is not None:
            ax.plot([float(row["target"].split()[-1])] * 2, [place - 0.4, place + 0.4], color="#cf222e", linewidth=2)
    ax.set_xlabel(rows[0]["unit"])


def _curves(ax: Axes, group: Sequence[Found]) -> None:
    for row in group:
        if row["points"]:
            sizes, seconds = zip(*row["points"], strict=True)
            label = f"{row['who']}: exponent {row['spread']['median']:.2f}"
            milliseconds = [1e3 * each for each in seconds]
            ax.plot(sizes, milliseconds, marker="o", markersize=3, color=COLOURS.get(row["who"], OTHER), label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylabel("ms")
    ax.legend(frameon=False)
