"""Which tools were used: shares of the committed actions, as numbers and as shades."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from runner.results.page.figures import shades
from runner.results.page.parts import Cell, Column, Plot, Section, Sheet
from runner.results.page.run_metrics import rows
from runner.results.runs import Run
from runner.results.tools import ALL, Share, Used, used_of

_KINDS = 24  # that are shades; all of them stand in the table


def section(runs: Sequence[Run]) -> Section | None:
    """Actions per run and part, then their shares by tool; None where no tool was used."""
    used = {(row.label, part): one for row in rows(runs) for part, one in used_of(row).items()}
    if not any(one.kinds for one in used.values()):
        return None
    labels = dict.fromkeys(label for label, _ in used)
    kinds = {label: sum((one.kinds for (run, _), one in used.items() if run == label), Counter()) for label in labels}
    intro = (
        "Counted are the committed actions. Tools of a category are taken together, others stand by their names; "
        "matching: of the part's own dimension; misuse: the input that the tool takes was not there; malformed: no "
        "tool that was offered."
    )
    return Section("tools", "Tools", intro, [_actions(used), _bars(used), _plot(kinds), _by_tool(kinds)])


def _actions(used: Mapping[tuple[str, str], Used]) -> Sheet:
    """A line per run and part: how many actions, which share are tools, and what was wrong with them."""
    columns = [
        Column("run"), Column("part"), Column("actions", "n"), Column("tools of all actions", "share"),
        Column("matching", "share", "higher"), Column("misuse", "share", "lower"),
        Column("malformed", "share", "lower"), Column("tools offered", "n, least"), Column("tools offered", "n, most"),
    ]  # fmt: skip
    lines: list[list[Cell]] = []
    for (label, part), one in used.items():
        whole = next(one.shares(label, part))
        lines.append([label, "all" if part == ALL else part, *_whole(whole), min(one.sizes), max(one.sizes)])
    return Sheet("Actions", columns, lines)


def _whole(share: Share) -> list[Cell]:
    return [share.actions, share.of_actions, share.matching, share.misuse, share.malformed]


def _by_tool(kinds: Mapping[str, Counter[str]]) -> Sheet:
    """A line per run and tool, the most used first."""
    columns = [Column("run"), Column("tool or category"), Column("actions", "n"), Column("of tool actions", "share")]
    lines: list[list[Cell]] = [
        [label, kind, n, n / counts.total()] for label, counts in kinds.items() for kind, n in counts.most_common()
    ]
    return Sheet("Shares by tool", columns, lines)


def _bars(used: Mapping[tuple[str, str], Used]) -> Plot:
    """A bar per part and run: tool actions among all actions, stacked by tool, those of a dimension in one group."""
    shares = [share for (label, part), one in used.items() for share in one.shares(label, part) if share.tool]
    bars: dict[tuple[str, str], list[Share]] = {}
    for share in sorted(shares, key=lambda one: (one.dimension, one.tool)):
        bars.setdefault((share.dimension, share.tool), []).append(share)
    data = [
        {
            "type": "bar", "name": tool, "legendgroup": dimension, "legendgrouptitle": {"text": dimension},
            "x": [[one.part for one in of], [one.run for one in of]], "y": [one.of_actions for one in of],
            "hovertemplate": "%{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
        }
        for (dimension, tool), of in bars.items()
    ]  # fmt: skip
    layout = {
        "barmode": "stack", "height": 460, "xaxis": {"type": "multicategory", "automargin": True},
        "yaxis": {"title": {"text": "share of all actions"}, "range": [0, 1]},
    }  # fmt: skip
    return Plot("Tool actions among committed actions", {"data": data, "layout": layout})


def _plot(kinds: Mapping[str, Counter[str]]) -> Plot:
    """Runs against tools; of very many tools the most used."""
    pooled = sum(kinds.values(), Counter())
    shown = [kind for kind, _ in pooled.most_common(_KINDS)]
    there = {label: counts for label, counts in kinds.items() if counts}
    z = [[counts[kind] / counts.total() for kind in shown] for counts in there.values()]
    lost = len(pooled) - len(shown)
    below = [f"{lost} tools that were used less are in the table only"] if lost else []
    return Plot("Shares of tool actions", shades(list(there), shown, z), below)
