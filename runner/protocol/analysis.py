"""The analysis that a frozen study asks for: which runs count, which samples, and what is shown of each hypothesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.results.arrays import np
from runner.results.claims import LOOK, adjusted, claim_p
from runner.results.levels import rows_by_path, used_levels
from runner.results.pairs import Difference, Pairs, difference_of, pairs_of
from runner.results.runs import Run
from runner.results.table import Table
from runner.storage import records
from runner.study import log
from runner.study.frozen import Frozen
from runner.study.plan import Hypothesis, Study

Key = tuple[str, int]  # arm and seed


@dataclass(frozen=True)
class Finding:
    """What the data say of a hypothesis; ``p`` one-sided, ``p_adjusted`` for all hypotheses."""

    hypothesis: Hypothesis
    difference: Difference | None
    p: float | None
    p_adjusted: float
    verdict: str


@dataclass(frozen=True)
class Analysis:
    """A frozen study with the runs that count, of each arm and seed one."""

    frozen: Frozen
    runs: Mapping[Key, Run]
    others: Sequence[Path]

    @classmethod
    def of(cls, path: Path, folders: Sequence[Path]) -> "Analysis":
        """Choose the runs: of each arm and seed the first that is whole, whatever came later, else the one that is
        furthest. Raises ConfigError."""
        frozen, runs, others = Frozen.read(path), dict[Key, Run](), list[Path]()
        for key, begun in log.runs_of(path, folders).items():
            planned = frozen.episodes.get(key, 0)
            chosen = next((one for one in begun if records.count(one) >= planned), None)
            chosen = chosen or max(begun, key=records.count, default=None)
            others += [one for one in begun if one != chosen]
            if chosen is not None and key in frozen.episodes and records.count(chosen):
                runs[key] = Run.read(chosen)
        return cls(frozen, runs, others)

    @property
    def study(self) -> Study:
        """The study as it was frozen."""
        return self.frozen.study

    @cached_property
    def finished(self) -> Mapping[Key, int]:
        """How many episodes each planned run has."""
        return {key: len(self.runs[key].table) if key in self.runs else 0 for key in self.frozen.episodes}

    @property
    def whole(self) -> bool:
        """Whether all planned episodes are there."""
        return all(self.finished[key] >= planned for key, planned in self.frozen.episodes.items())

    @cached_property
    def tables(self) -> Mapping[Key, Table]:
        """The episodes of each run that are not excluded."""
        found = {}
        for key, run in self.runs.items():
            table = run.table
            strata, names = table["strata"].tolist(), table["sample_id"].tolist()
            kept = [not any(one.holds(name, table.kinds[code]) for one in self.study.exclusions)
                    for name, code in zip(names, strata, strict=True)]  # fmt: skip
            found[key] = table.take(np.flatnonzero(kept))
        return found

    def pairs(self, one: Hypothesis, stratum: tuple[str, str] | None = None) -> Pairs | None:
        """The pairs of a hypothesis over all seeds, or of them those of a stratum; None where no seed has both arms."""
        mine, theirs = one.compare
        found = []
        for seed in self.study.seeds:
            if (mine, seed) in self.runs and (theirs, seed) in self.runs:
                sides = [self.tables[arm, seed] for arm in one.compare]
                if stratum is not None:
                    sides = [of.take(rows_by_path(of, stratum[:1]).get(stratum[1:], np.arange(0))) for of in sides]
                scale = self.runs[mine, seed].scale(one.metric)
                found.append(pairs_of(sides[0], sides[1], one.metric, scale, one.direction))
        if not found:
            return None
        unpaired: dict[str, list[str]] = {}
        for of in found:
            for reason, names in of.unpaired.items():
                unpaired.setdefault(reason, []).extend(names)
        gains = np.concatenate([of.gains for of in found])
        return Pairs(Table.join([of.table for of in found]), gains, unpaired, found[0].scale)

    def levels(self, one: Hypothesis) -> Sequence[str]:
        """The strata by which the metric is a mean of means."""
        return next(iter(self.runs.values())).levels.get(one.metric, ())

    @cached_property
    def findings(self) -> list[Finding]:
        """Of all hypotheses, in their order."""
        tested = [self._test(one) for one in self.study.hypotheses]
        p_values, n = [p for _, p in tested], len(self.study.primary)
        first, second = adjusted(p_values[:n], p_values[n:], self.study.multiplicity == "sequence")
        return [
            Finding(one, difference, p, p_adjusted, self._verdict(one, p, p_adjusted))
            for one, (difference, p), p_adjusted in zip(self.study.hypotheses, tested, [*first, *second], strict=True)
        ]

    def _test(self, one: Hypothesis) -> tuple[Difference | None, float | None]:
        """The difference, and its p value, one-sided; None without any pair."""
        pairs = self.pairs(one)
        if pairs is None or not len(pairs.gains):
            return None, None
        levels = used_levels(pairs.table, self.levels(one))
        difference = difference_of(pairs, levels)
        return difference, claim_p(pairs, difference, one.bounds, bool(levels))

    @cached_property
    def interim(self) -> bool:
        """Whether this is an interim analysis that was planned."""
        seen = log.looks(self.frozen.path)
        return not self.whole and bool(seen) and seen[-1][1]

    @property
    def level(self) -> float:
        """What an adjusted p value, one-sided, must not exceed: at the end what planned looks leave of alpha."""
        study = self.study
        return LOOK / 2 if self.interim else (study.alpha - LOOK * len(study.looks)) / 2

    def _verdict(self, one: Hypothesis, p: float | None, p_adjusted: float) -> str:
        shown = p is not None and p_adjusted <= self.level
        if not self.whole and not (shown and self.interim):
            return "not decided"
        found = "shown" if shown else "cannot be tested" if p is None else "not shown"
        mine = {run.manifest["id"] for (arm, _), run in self.runs.items() if arm in one.compare}
        deviating = {event["id"] for event in log.events(self.frozen.path) if event.get("deviations")}
        return f"{found}{' at a planned look' * self.interim}{', with deviations' * bool(mine & deviating)}"
