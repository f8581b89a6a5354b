"""Process audit: right and wrong answers by sound and unsound ways, the rates behind it, and examples of each."""

from collections.abc import Sequence

from components.core.score_names import (
    JUDGED,
    RATES,
    RIGHT_SOUND,
    RIGHT_UNSOUND,
    SOUND,
    SUPPORTED,
    WRONG_SOUND,
    WRONG_UNSOUND,
)
from runner.results.arrays import np
from runner.results.rows import RunMetrics, column, read_metrics
from runner.results.runs import Run
from runner.results.sections.episode_data import link_keys, link_of
from runner.results.sheets import Cell, Section, Sheet, Value, columns

_CELLS = (RIGHT_UNSOUND, WRONG_UNSOUND, WRONG_SOUND, RIGHT_SOUND)
_RATES = (SOUND, *(name for name in RATES if name != SOUND))
_JUDGED = JUDGED.format("audit_support", "support", "whole")
_EXAMPLES = 5  # of each cell and run


def audit(runs: Sequence[Run]) -> Section | None:
    """Tables of cells, of rates, and examples; None where no run is audited."""
    keys = link_keys(runs)
    found = [
        (one, key) for one, key in zip(read_metrics(*runs), keys, strict=True) if SOUND in one.run.table.names("scores")
    ]
    if not found:
        return None
    intro = (
        "Sound way: tool results state every value of the answer that rules can search for, none contradicts it, and "
        "it was not stated before the first result (docs/guides/audit.md). In a right answer by an unsound way some "
        "value has another source: luck, memory, the model's own arithmetic, or an image."
    )
    ones = [one for one, _ in found]
    parts = [_cells(ones), _rates(ones), _examples(found)]
    return Section("audit", "Process audit", intro, [part for part in parts if part.rows])


def _name(score: str) -> str:
    return score.rpartition("/")[2].replace("_", ", ", 1)


def _cells(found: Sequence[RunMetrics]) -> Sheet:
    """A line per run: the shares of the four cells, and of a judge that finds the whole answer supported."""
    judged = any(_JUDGED in one.run.table.valued for one in found)
    rows: list[list[Cell]] = []
    for one in found:
        value = one.value(_CELLS[0])
        judge: list[Cell] = [one.value(_JUDGED), _agree(one)] if judged else []
        rows.append([one.label, 0 if value is None else value.n, *(one.value(name) for name in _CELLS), *judge])
    of_judge = (("supported, by the judge", "share"), ("judge agrees with the rules", "share"))
    heads = columns(
        "run", ("audited", "n"), *((_name(name), "share") for name in _CELLS), *(of_judge if judged else ()),
    )  # fmt: skip
    return Sheet("Right and wrong answers by sound and unsound ways", heads, rows)


def _agree(one: RunMetrics) -> float | None:
    """The share of episodes on which a judge and the rules agree whether the whole answer is supported."""
    table = one.run.table
    rules, judge = table.values(SUPPORTED), table.values(_JUDGED)
    there = ~np.isnan(rules) & ~np.isnan(judge)
    return float(((rules == 1.0) == (judge == 1.0))[there].mean()) if there.any() else None


def _rates(found: Sequence[RunMetrics]) -> Sheet:
    rows: list[list[Cell]] = [[one.label, *(one.value(name) for name in _RATES)] for one in found]
    return Sheet("Rates", columns("run", *(column(found, name) for name in _RATES)), rows)


def _examples(found: Sequence[tuple[RunMetrics, str]]) -> Sheet:
    """The first episodes of each cell; a number opens one on the page."""
    rows: list[list[Cell]] = []
    for one, key in found:
        table = one.run.table
        for cell in _CELLS:
            places = table.in_order(np.flatnonzero(table.values(cell) == 1.0)).tolist()
            for row in places[:_EXAMPLES]:
                sample, epoch = table.keys[row]
                values = [float(table.values(name)[row]) for name in _RATES[1:]]
                cells: list[Cell] = [None if value != value else value for value in values]
                sound = Value(float(table.values(SOUND)[row]), link=link_of(key, sample, epoch))
                rows.append([one.label, _name(cell), sample, sound, *cells])
    heads = columns("run", "cell", "sample", *(column([one for one, _ in found], name) for name in _RATES))
    return Sheet(
        "Examples", heads, rows, [f"the first {_EXAMPLES} of each cell; the page says which claims are open"], keys=3
    )
