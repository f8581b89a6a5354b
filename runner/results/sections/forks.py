"""Forks: recorded episodes that were continued from a step on, as they were (control) and with interventions.

An effect is the mean difference of forks of the same step with the same seeds; its interval and p take whole patients,
or samples where there are none; with fewer clusters than can show anything there is neither, and Holm leaves them out.
The chance of success from a step is the mean score of the control's forks there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from components.text.words import written_out
from runner.results.arrays import Rows, np
from runner.results.cells import number, p_text
from runner.results.intervals import TOO_SMALL, Metric, mean_of, unfinished_mean
from runner.results.kinds import Better, Scale, group_by
from runner.results.levels import rows_by_path
from runner.results.pairs import Difference, adjust, difference_of, pairs_of
from runner.results.render.figures import Mark, Series, scatter
from runner.results.render.formats import asset, render
from runner.results.runs import Run
from runner.results.sheets import Cell, Column, Markup, Plot, Section, Sheet, Value, columns
from runner.results.significance import FEWEST_SIGNS
from runner.results.table import align
from runner.results.terminal import show_section
from runner.storage.records import read
from runner.storage.schema import FORK_FACTS, FORK_STEP

CONTROL = "control"
_SHOWN = 200  # episodes as trees
_NEEDED = {"step", "of", "call", "epoch", "did", "was"}  # of a fork's facts
_INTRO = (
    "Recorded episodes were continued from a step on: unchanged (control), and with an intervention. Gain: the mean "
    "difference to the control's fork with the same seed, positive if the intervention is better; its 95 % interval "
    "and p resample whole patients, or samples without patients; fewer than six of these can show nothing. Control: "
    "its score in the same forks. A step is a decision of the agent, from 1. All steps: forks have equal weights, "
    "so long episodes count more."
)
_LOST = (
    "Change by the recorded step: the chance after the recorded step minus the chance before it; the case was lost "
    "where it falls. It compares the same episodes; the chances of two steps are of all episodes of that length."
)
_HOLM = "Holm p: adjusted over the steps of one intervention, on the line of all steps over the interventions"


@dataclass(frozen=True, eq=False)
class Forked:
    """The arms of one fork. ``score``: the one that decides."""

    arms: Mapping[str, Run]
    score: str
    scale: Scale
    direction: Better

    @property
    def control(self) -> Run:
        """Continued unchanged."""
        return self.arms[CONTROL]

    @cached_property
    def steps(self) -> Mapping[str, Mapping[str, Rows]]:
        """Arm -> step -> rows of its forks."""
        return {name: {path[0]: rows for path, rows in rows_by_path(run.table, (FORK_STEP,)).items()}
                for name, run in self.arms.items()}  # fmt: skip

    def chance(self, arm: str, step: str | None = None) -> Value | None:
        """The mean score of an arm's forks, or of those at a step."""
        table = self.arms[arm].table
        return Value.of(mean_of(table, table.values(self.score), self.scale, self._rows(arm, step)).finished)

    def control_of(self, arm: str, step: str | None = None) -> Value | None:
        """The mean score of the control's forks that an arm has, too, with a score."""
        mine, theirs = self.arms[arm].table, self.control.table
        mine = mine.take(self._rows(arm, step))
        _, (left, right) = align(mine, theirs)
        rows = right[(right >= 0) & ~np.isnan(mine.values_of(self.score, left))]
        return Value.of(mean_of(theirs, theirs.values(self.score), self.scale, rows).finished)

    def _rows(self, arm: str, step: str | None) -> Rows:
        """The rows of an arm's forks, or of those at a step."""
        return np.arange(len(self.arms[arm].table)) if step is None else self.steps[arm].get(step, np.arange(0))

    def effect(self, arm: str, step: str | None = None) -> Difference:
        """An arm's forks less the control's with the same seeds; without interval and p where the clusters are few."""
        mine, theirs = (
            self.arms[name].table if step is None else self.arms[name].table.take(self._rows(name, step))
            for name in (arm, CONTROL)
        )
        found = difference_of(pairs_of(mine, theirs, self.score, self.scale, self.direction))
        few = found.clusters < FEWEST_SIGNS
        return replace(found, metric=_without_interval(found.metric), p=None) if few else found

    @cached_property
    def facts(self) -> Mapping[tuple[str, int], Mapping[str, Any]]:
        """Sample and number of a fork -> what it continues."""
        records = (one for run in self.arms.values() for one in read(run.folder))
        found = {(one["sample_id"], one["epoch"]): (one.get("facts") or {}).get(FORK_FACTS) for one in records}
        return {key: of for key, of in found.items() if isinstance(of, Mapping) and of.keys() >= _NEEDED}


def _without_interval(metric: Metric) -> Metric:
    return replace(metric, ci_low=None, ci_high=None, no_interval=TOO_SMALL)


def forks(runs: Sequence[Run]) -> Section | None:
    """Effects, the chance from each step, and the episodes as trees; None for runs that are no forks."""
    of_forks = (
        run for run in runs if isinstance(fork := run.cfg.get("fork"), Mapping) and {"arm", "kind"} <= fork.keys()
    )
    groups = group_by(of_forks, lambda run: run.folder.parent)
    found = [one for of in groups.values() if (one := _forked(of)) is not None]
    parts: list[Sheet | Plot | Markup] = []
    for one in found:
        of = f", {one.control.folder.parent.name}" if len(found) > 1 else ""
        parts += [_interventions(one, of), *_chances(one, of), *_by_step(one, of), *_trees(one, of)]
    return Section("forks", "Forks of recorded episodes", _INTRO, parts) if parts else None


def show_forks(runs: Sequence[Run], whole: bool = False) -> bool:
    """Print the recovery by intervention and the change by step; ``whole``: all but the episodes, which are on the
    page. Returns whether these runs are forks."""
    if (section := forks(runs)) is None:
        return False
    show_section(
        replace(section, parts=[one for one in section.sheets if (not one.instead if whole else one.keys == 1)])
    )
    return True


def _forked(runs: Sequence[Run]) -> Forked | None:
    """The arms of one folder; None without a control, or a score."""
    arms = {str(run.cfg["fork"]["arm"]): run for run in runs}
    control = arms.get(CONTROL)
    if control is None or control.headline is None:
        return None
    score = control.headline
    return Forked(arms, score, control.scale(score), control.better(score))


def _treatments(one: Forked) -> list[str]:
    return [name for name in one.arms if name != CONTROL]


def _interventions(one: Forked, of: str) -> Sheet:
    """A line per arm: its chance, its gain, and what it took."""
    effects = dict(zip(_treatments(one), adjust(one.effect(name) for name in _treatments(one)), strict=True))
    rows: list[list[Cell]] = []
    for name, run in one.arms.items():
        spent, calls = run.manifest.get("spent"), run.manifest.get("calls")
        took: list[Cell] = [calls and calls["sent"], calls and calls["from_journal"], spent and spent["usd"]]
        kind = str(run.cfg["fork"]["kind"])
        unscored = int(np.isnan(run.table.values(one.score)).sum())
        chances = one.chance(name), None if name == CONTROL else one.control_of(name)
        rows.append([name, kind, len(run.table), unscored, *chances, *_gain(effects.get(name)), *took])
    heads = columns("intervention", "changed", ("forks", "n"), ("unscored", "n"), _chance_head(one),
                    Column("control", "", one.direction), *_GAIN, ("sent", "calls"),
                    ("from the journal", "calls"), ("cost", "USD"))  # fmt: skip
    notes = [
        _HOLM,
        "unscored: forks that ended in an error, or that the score leaves out",
        "calls before a fork are not sent: their replies are in the record",
    ]
    return Sheet(f"Recovery by intervention: {one.score}{of}", heads, rows, notes)


_GAIN = (Column("gain", "", "higher", signed=True), Column("pairs", "n"), Column("clusters", "n"),
         Column("won:tied:lost"), Column("p"), Column("Holm p"))  # fmt: skip


def _gain(found: Difference | None) -> list[Cell]:
    if found is None:
        return [None, None, None, "-", "-", "-"]
    return [Value.of(found.metric), found.metric.n, found.clusters, found.counts, p_text(found.p), p_text(found.p_holm)]


def _chance_head(one: Forked) -> Column:
    return Column("chance" if one.scale.kind == "proportion" else "score", "", one.direction)


def _by_step(one: Forked, of: str) -> list[Sheet]:
    """A line per intervention and step."""
    rows: list[list[Cell]] = []
    for name in _treatments(one):
        steps = list(one.steps[name])
        for step, effect in zip(steps, adjust(one.effect(name, step) for step in steps), strict=True):
            rows.append([name, int(step), one.chance(name, step), one.control_of(name, step), *_gain(effect)])
    heads = [Column("intervention"), Column("step"), _chance_head(one), Column("control", "", one.direction), *_GAIN]
    return [Sheet(f"Effect by step: {one.score}{of}", heads, rows, [_HOLM], keys=2)] if rows else []


def _chances(one: Forked, of: str) -> list[Sheet | Plot]:
    """The control's chance from each step, and by how much the recorded step changed it."""
    changes, rows = _changes(one), list[list[Cell]]()
    for step, forked in one.steps[CONTROL].items():
        samples = len(set(one.control.table["sample_id"][forked].tolist()))
        rows.append([int(step), samples, len(forked), one.chance(CONTROL, step), changes.get(int(step))])
    change = Column("change by the recorded step", "", one.direction, signed=True)
    heads = columns("step", ("samples", "n"), ("forks", "n"), _chance_head(one), change)
    sheet = Sheet(f"Chance of success from each step, continued unchanged: {one.score}{of}", heads, rows, [_LOST])
    lines = []
    gap = min(0.15, 0.6 / len(one.steps))  # next to each other, as their intervals would hide them
    for n, (name, found) in enumerate(one.steps.items()):
        values = [(int(step), one.chance(name, step)) for step in found]
        marks = [Mark(x, value) for x, value in values if value is not None]
        lines.append(Series(name, marks, "solid", shift=gap * (n - (len(one.steps) - 1) / 2)))
    figure = scatter(lines, "step from which the episode was continued", f"mean {one.score}")
    return [Plot(f"Where the case was lost{of}", figure), sheet]


def _changes(one: Forked) -> dict[int, Value | None]:
    """Step -> the chance after it less the chance before, over the episodes that have both. After the last step there
    is the recorded score."""
    table, means = one.control.table, dict[tuple[str, int], dict[int, list[float]]]()
    ends, clusters = dict[tuple[str, int], tuple[int, float]](), dict[str, int]()
    columns_of = table["sample_id"], table["epoch"], table["number"], table.values(one.score)
    for sample, fork, cluster, value in zip(*(column.tolist() for column in columns_of), strict=True):
        if (facts := one.facts.get((sample, fork))) is None or np.isnan(value):
            continue
        episode, clusters[sample] = (sample, facts["epoch"]), cluster
        means.setdefault(episode, {}).setdefault(facts["step"], []).append(value)
        if isinstance(was := facts["was"], int | float):
            ends[episode] = facts["of"], float(was)
    found: dict[int, list[tuple[float, int]]] = {}
    for episode, steps in means.items():
        after = {step: sum(values) / len(values) for step, values in steps.items()}
        if episode in ends:
            after[ends[episode][0] + 1] = ends[episode][1]
        for step in steps:
            if step + 1 in after:
                found.setdefault(step, []).append((after[step + 1] - after[step], clusters[episode[0]]))
    scale = Scale("share" if one.scale.bounded else "number", difference=True)
    sides = {step: list(zip(*pairs, strict=True)) for step, pairs in found.items()}
    means_of = {step: (unfinished_mean(gains, of, scale).finished, len({*of})) for step, (gains, of) in sides.items()}
    return {step: Value.of(one if n >= FEWEST_SIGNS else _without_interval(one)) for step, (one, n) in means_of.items()}


def _trees(one: Forked, of: str) -> list[Sheet | Markup]:
    """Every episode as a line of steps with branches, and the same as a table."""
    values = {name: dict(zip(run.table.keys, run.table.values(one.score).tolist(), strict=True))
              for name, run in one.arms.items()}  # fmt: skip
    groups = group_by(one.facts.items(), lambda pair: (pair[0][0], pair[1]["epoch"]))
    rows, trees = list[list[Cell]](), list[Mapping[str, object]]()
    for (sample, epoch), pairs in sorted(groups.items(), key=str):
        steps, name = group_by(pairs, lambda pair: pair[1]["step"]), sample + (f" ({epoch})" if epoch else "")
        lines = []
        for step, forked in sorted(steps.items()):
            did, call, was = (forked[0][1][key] for key in ("did", "call", "was"))
            branches = {arm: _branch([of[key] for key, _ in forked if key in of]) for arm, of in values.items()}
            texts = [text for text, _ in branches.values()]
            rows.append([name, step, call, written_out(did), *texts])
            lines.append({"step": step, "call": call, "did": did, "branches": branches})
        ended = number(was) if isinstance(was, int | float) else "unscored"
        trees.append({"name": name, "was": ended, "steps": lines, "of": forked[0][1]["of"]})
    heads = columns("sample", "step", "call", "recorded", *values)
    sheet = Sheet(f"Episodes, step by step{of}", heads, rows, [f"{one.score}: sum of the forks / their number"], keys=2,
                  instead="The episodes are on the HTML page and in tables/ as CSV.")  # fmt: skip
    html = render(
        "forks.html.jinja", meters=one.scale.bounded, trees=trees[:_SHOWN], left_out=max(0, len(trees) - _SHOWN)
    )
    return [Markup(html, "", asset("viewer/forks.css"), ""), sheet]


def _branch(values: Sequence[float]) -> tuple[str, float | None]:
    """The sum of an arm's scores at a step and their number, and their mean."""
    scored = [value for value in values if not np.isnan(value)]
    if not scored:
        return "-", None
    total = sum(scored)
    return f"{total:g}/{len(scored)}" if total == int(total) else f"{total:.2f}/{len(scored)}", total / len(scored)
