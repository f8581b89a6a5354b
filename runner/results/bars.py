"""The shares of tools as stacked bars: one bar per part and run, one colour per dimension of tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.results.tools import Share

_MAPS = ("Blues", "Oranges", "Greens", "Purples", "Reds", "Greys")  # one per dimension, a shade per tool


def draw(shares: Sequence[Share], path: Path) -> None:
    """Write a PNG: height = tool actions among all actions, segments = tools."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    runs = list(dict.fromkeys(share.run for share in shares))
    bars = sorted({(share.part, share.run) for share in shares}, key=lambda bar: (bar[0], runs.index(bar[1])))
    colours = _colours(shares)
    figure = Figure(figsize=(max(6.0, 1.5 + 0.6 * len(bars)), 5.0), layout="constrained")
    axes = figure.subplots()
    for place, (part, run) in enumerate(bars):
        bottom = 0.0
        for share in shares:
            if (share.part, share.run) == (part, run) and share.tool and share.of_actions is not None:
                axes.bar(
                    place,
                    share.of_actions,
                    bottom=bottom,
                    color=colours[share.dimension, share.tool],
                    width=0.8,
                    edgecolor="white",
                    linewidth=0.4,
                )
                bottom += share.of_actions
    labels = [f"{part}\n{run}" if len(runs) > 1 else part for part, run in bars]
    axes.set_xticks(range(len(bars)), labels, fontsize=8)
    if len(runs) > 1:
        axes.tick_params(axis="x", rotation=60)
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of all actions")
    title = "Tool actions among committed actions"
    axes.set_title(title if len(runs) > 1 else f"{title}: {''.join(runs)}", fontsize=10)
    keys = [Patch(color=colour, label=f"{tool} ({dimension or '-'})") for (dimension, tool), colour in colours.items()]
    if keys:
        axes.legend(handles=keys, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=150)


def _colours(shares: Sequence[Share]) -> dict[tuple[str, str], tuple[float, float, float, float]]:
    """(dimension, tool) -> colour."""
    from matplotlib import colormaps

    tools = sorted({(share.dimension, share.tool) for share in shares if share.tool})
    dimensions = list(dict.fromkeys(dimension for dimension, _ in tools))
    found: dict[tuple[str, str], tuple[float, float, float, float]] = {}
    for dimension in dimensions:
        shades = colormaps[_MAPS[dimensions.index(dimension) % len(_MAPS)]]
        own = [tool for one, tool in tools if one == dimension]
        for n, tool in enumerate(own):
            found[dimension, tool] = shades(0.85 - 0.5 * n / max(1, len(own) - 1))
    return found
