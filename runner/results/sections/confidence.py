"""How sure the agent was of its answers: selection by confidence, calibration, and refusals in their own right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from components.core.score_names import REFUSED_RIGHTLY as RIGHT
from components.core.score_names import REFUSED_WRONGLY as WRONG
from components.core.score_names import STATED
from runner.results.arrays import Floats, np
from runner.results.intervals import mean_of, unfinished_mean
from runner.results.kinds import Scale
from runner.results.render.figures import Mark, Series, scatter
from runner.results.rows import read_metrics
from runner.results.runs import Run
from runner.results.selective import AURC, DEBIASED, ECE, EXCESS, RISKS, Answers
from runner.results.sheets import Cell, Plot, Section, Sheet, Value, columns

_INTRO = (
    "Selection: only answers with at least some confidence are accepted. Coverage is the share that is, risk their "
    "mean loss (1 - score). Calibration: whether four in five of the answers with a confidence of 80 % are right. "
    "Answers without a stated confidence are in neither, nor are refusals, which have a table. Definitions and "
    "sources: docs/guides/confidence.md."
)
_NO_SHARE = "left out, since the score that decides is not a share from 0 to 1 that is better high: "


@dataclass(frozen=True)
class Sure:
    """A run with confidences."""

    run: Run
    label: str

    @property
    def is_share(self) -> bool:
        """Whether the score that decides says how right an answer is, from 0 to 1."""
        score = self.run.headline
        return score is not None and self.run.scale(score).bounded and self.run.better(score) == "higher"

    @cached_property
    def score(self) -> Floats:
        """How right each answer is; NaN where that is not known."""
        score = self.run.table.values(self.run.headline or "")
        return np.where(self.is_share & (score >= 0) & (score <= 1), score, np.nan)

    @cached_property
    def answers(self) -> Answers:
        """Those with a stated confidence and a known score, whatever the order of the records."""
        table, order = self.run.table, self.run.table.in_order()
        return Answers.of(table.values(STATED)[order], self.score[order], table["number"][order])

    @cached_property
    def measures(self) -> Mapping[str, Value]:
        """What they are worth; empty without any."""
        return self.answers.measures() if len(self.answers) else {}

    def mean(self, values: Floats, kind: str = "share") -> Value | None:
        """The mean of values of its episodes, over those that are among the answers."""
        known = np.where(np.isnan(self.run.table.values(STATED) + self.score), np.nan, values)
        scale = self.run.scale(kind) if kind in self.run.scores else Scale("share")
        return Value.of(mean_of(self.run.table, known, scale).finished)


def section(runs: Sequence[Run]) -> Section | None:
    """Tables and plots of the runs whose confidences, or refusals, were scored; None where none were."""
    found = [Sure(one.run, one.label) for one in read_metrics(*runs) if STATED in one.run.scores]
    if not found:
        return None
    known = [one for one in found if len(one.answers)]
    plots = [_risk_coverage(known), _reliability(known)] if known else []
    sheets = [_selection(found), *([_calibration(known), _bins(known)] if known else []), _abstention(found)]
    return Section("confidence", "Confidence", _INTRO, [sheets[0], *plots, *sheets[1:]])


def _selection(found: Sequence[Sure]) -> Sheet:
    """A line per run: how many answers have a confidence, and what selecting by it achieves."""
    names = (AURC, EXCESS, *RISKS)
    rows: list[list[Cell]] = []
    for one in found:
        answered = one.run.table["stop"] == "answered"
        stated = one.run.table.values(STATED)[answered]
        share = float((~np.isnan(stated)).mean()) if len(stated) else None
        kind = str(one.run.setting("agent.confidence") or "-")
        measures = [one.measures.get(name) for name in names]
        rows.append([one.label, kind, len(stated), share, one.mean(1 - one.score, str(one.run.headline)), *measures])
    heads = columns(
        "run", "confidence", ("answers", "n"), ("stated", "share", "higher"), ("risk of all", "", "lower"),
        (AURC, "", "lower"), (EXCESS, "", "lower"), *((name, "share", "higher") for name in RISKS),
    )  # fmt: skip
    odd = [f"{one.label} ({one.run.headline})" for one in found if not one.is_share]
    notes = [
        "A coverage has an interval where the answers that it accepts could hold ten losses at this risk; with fewer "
        "the interval would be too narrow, and below three nothing shows so low a risk even without any loss.",
        *([_NO_SHARE + ", ".join(odd)] if odd else []),
    ]
    return Sheet("Selection by confidence", heads, rows, notes, keys=2)


def _calibration(known: Sequence[Sure]) -> Sheet:
    """A line per run: mean confidence and score, and how far they are apart."""
    rows: list[list[Cell]] = []
    for one in known:
        stated, score = one.run.table.values(STATED), str(one.run.headline)
        distance = one.mean((stated - one.score) ** 2)
        means = one.mean(stated), one.mean(one.score, score), distance
        rows.append([one.label, score, len(one.answers), *means, one.measures[ECE], one.measures[DEBIASED]])
    heads = columns(
        "run", "score", ("answers", "n"), "mean confidence", "mean score", ("Brier", "", "lower"), (ECE, "", "lower"),
        (DEBIASED, "", "lower"),
    )  # fmt: skip
    note = "Plain ECE is too large by chance, the more so the fewer the answers; read the debiased one."
    return Sheet("Calibration", heads, rows, [note])


def _bin_means(one: Sure) -> list[tuple[float, Value | None, int]]:
    """Mean confidence, mean score with its interval, and size of each bin."""
    of, scale = one.answers, one.run.scale(str(one.run.headline))
    found = []
    for number in range(int(of.bins.max()) + 1):
        own = of.bins == number
        mean = unfinished_mean(1.0 - of.loss[own], of.clusters[own], scale).finished
        found.append((float(of.certain[own].mean()), Value.of(mean), int(own.sum())))
    return found


def _bins(known: Sequence[Sure]) -> Sheet:
    """A line per bin of the reliability diagram."""
    rows: list[list[Cell]] = [[one.label, n, certain, mean] for one in known for certain, mean, n in _bin_means(one)]
    heads = columns("run", ("answers", "n"), "mean confidence", "mean score")
    return Sheet("Reliability: bins by confidence", heads, rows)


def _risk_coverage(known: Sequence[Sure]) -> Plot:
    """Risk against coverage, a line per run, from the surest answers to all."""
    series = []
    for one in known:
        coverage, risk = (line[0].tolist() for line in one.answers.curve())
        least = one.answers.certain[one.answers.ends].tolist()
        points = zip(coverage, risk, least, strict=True)
        marks = [Mark(x, Value(y), f"{one.label}, confidence {of:.2f} or more") for x, y, of in points]
        series.append(Series(one.label, marks, "solid", "full" if len(marks) < 100 else ""))
    figure = scatter(series, "coverage: share of answers accepted", "risk: mean loss of those (↓ lower is better)")
    return Plot("Risk and coverage", figure)


def _reliability(known: Sequence[Sure]) -> Plot:
    """Mean score against mean confidence by bin; on the dotted line both are equal."""
    series = [
        Series(one.label, [Mark(x, y, f"{one.label}, {n} answers") for x, y, n in _bin_means(one) if y], "solid")
        for one in known
    ]
    equal = Series("calibrated", [Mark(end, Value(end)) for end in (0.0, 1.0)], "dotted", "")
    figure = scatter([*series, equal], "mean confidence of a bin", "mean score of its answers")
    return Plot("Reliability diagram", figure, ["Below the dotted line the agent is surer than it is right."])


def _abstention(found: Sequence[Sure]) -> Sheet:
    """A line per run: refusals that were right, missing, and wrong."""
    rows: list[list[Cell]] = []
    for one in found:
        table = one.run.table
        due, undue = (values[~np.isnan(values)] for values in (table.values(RIGHT), table.values(WRONG)))
        counts = int(due.sum()), int((1 - due).sum()), int(undue.sum()), int((1 - undue).sum())
        refused = np.where(table.values("stop/refused") == 1, np.nan_to_num(table.values(RIGHT)), np.nan)
        precise = Value.of(mean_of(table, refused, Scale("proportion")).finished)
        shares = [Value.of(mean_of(table, table.values(name), Scale("proportion")).finished) for name in (RIGHT, WRONG)]
        rows.append([one.label, *counts, *shares, precise])
    heads = columns(
        "run", ("right refusals", "n"), ("missing refusals", "n"), ("wrong refusals", "n"), ("rightly attempted", "n"),
        ("refused of the impossible", "share", "higher"), ("refused of the possible", "share", "lower"),
        ("right of all refusals", "share", "higher"),
    )  # fmt: skip
    note = "Impossible: the condition took away what a task needs, or its data hold no answer."
    return Sheet("Abstention", heads, rows, [note])
