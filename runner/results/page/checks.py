"""What checking every step changed: which proposal was chosen, and what fewer proposals would have led to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from runner.results.page.figures import groups
from runner.results.page.parts import Cell, Column, Plot, Section, Sheet, Value
from runner.results.page.run_metrics import read_metrics
from runner.results.runs import Run
from runner.results.verdicts import Verdict, verdicts_of

Found = Mapping[str, Sequence[Verdict]]


def section(runs: Sequence[Run]) -> Section | None:
    """Choices step by step and how the checks ended; None where there was nothing to choose from."""
    read = {
        one.label: [verdict for verdict in verdicts_of(one.run) if verdict is not None] for one in read_metrics(runs)
    }
    found = {label: of for label, of in read.items() if any(len(one.picks) > 1 or one.chosen > 1 for one in of)}
    if not found:
        return None
    intro = (
        "Proposals are candidates for an action, or versions of one. A step counts the checked actions of an episode "
        "from 1; the last line of a run is over all steps."
    )
    return Section("checks", "What the verifier chose", intro, [_plot(found), _steps(found), _endings(found)])


def _steps(found: Found) -> Sheet:
    """A line per run and step: how often the first proposal was not kept, and fewer would have led elsewhere."""
    numbers = sorted({n for of in found.values() for one in of for n in one.picks if n < max(one.picks)})
    columns = [Column("run"), Column("step"), Column("checked", "n"), Column("first not kept", "share")]
    columns += [Column(f"unlike with {n}", "share") for n in numbers]
    rows: list[list[Cell]] = []
    for label, of in found.items():
        parts = {str(step): [one for one in of if one.step == step] for step in sorted({one.step for one in of})}
        for step, part in (parts | {"all": list(of)}).items():
            rows.append([label, step, len(part), _changed(part), *(_unlike(part, n) for n in numbers)])
    below = ["unlike with n: how often n proposals would have led to another choice than all of them did"]
    return Sheet("Choices by step", columns, rows, below if numbers else ())


def _changed(verdicts: Sequence[Verdict]) -> float:
    return sum(one.chosen > 1 for one in verdicts) / len(verdicts)


def _unlike(verdicts: Sequence[Verdict], n: int) -> float | None:
    """The share that n proposals would have decided otherwise; a verdict that does not tell is left out."""
    there = [one for one in verdicts if n in one.picks]
    return sum(one.picks[n] != one.chosen for one in there) / len(there) if there else None


def _endings(found: Found) -> Sheet:
    """Why a check ended where it did."""
    rows: list[list[Cell]] = []
    for label, of in found.items():
        for (verifier, why), n in Counter((one.verifier, one.why) for one in of).most_common():
            part = [one for one in of if (one.verifier, one.why) == (verifier, why)]
            rows.append([label, verifier, why, n, n / len(of), _changed(part)])
    columns = [Column("run"), Column("verifier"), Column("the check ended")]
    columns += [Column("steps", "n"), Column("of all checks", "share"), Column("first not kept", "share")]
    return Sheet("How checks ended", columns, rows)


def _plot(found: Found) -> Plot:
    """Shares of the first proposal not kept, by step."""
    steps = sorted({one.step for of in found.values() for one in of})
    series: dict[str, list[Value | None]] = {}
    for label, of in found.items():
        parts = [[one for one in of if one.step == step] for step in steps]
        series[label] = [Value(_changed(part)) if part else None for part in parts]
    title = "first proposal not kept [share of checks]"
    figure = groups([str(step) for step in steps], series, title, "step")
    return Plot("How often the first proposal was not kept", figure)
