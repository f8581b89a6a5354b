"""The analysis of a frozen study: which runs and samples count, and the result of each hypothesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from runner.results.arrays import np
from runner.results.claims import adjust_p_values, claim_p
from runner.results.levels import rows_by_path
from runner.results.pairs import UNRATED, UNSCORED, Difference, Pairs, difference_of, pairs_of
from runner.results.runs import Run
from runner.results.table import Table
from runner.storage.integrity import refuse_changed
from runner.study import log
from runner.study.frozen import Frozen
from runner.study.looks import StudyRun, furthest_of, looks, refuse_unlogged, runs_of
from runner.study.plan import LOOK, Hypothesis, Study

Key = tuple[str, int]  # arm and seed
_TO_JOIN = ("sample_id", "epoch", "cluster")  # by which pairs of several seeds are put in order


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
    """A frozen study with the runs that count, of each arm and seed one; ``others``: runs under the study that do not,
    ``missing``: runs whose folder is gone."""

    frozen: Frozen
    runs: Mapping[Key, Run]
    others: Sequence[StudyRun]
    missing: Sequence[StudyRun]

    @classmethod
    def of(cls, path: Path, folders: Sequence[Path]) -> "Analysis":
        """Choose the runs: of each arm and seed the first that is whole, whatever came later, else the one that is
        furthest. Raises ConfigError, also where a file of one was changed."""
        frozen, found = Frozen.read(path), runs_of(path, folders)
        refuse_unlogged(path, folders)
        chosen = furthest_of(frozen, found)
        others = [one for one in found if one.n is not None and one not in chosen.values()]
        for one in chosen.values():
            refuse_changed(one.folder)
        runs = {key: Run.read(one.folder) for key, one in chosen.items()}
        return cls(frozen, runs, others, [one for one in found if one.n is None])

    @property
    def study(self) -> Study:
        """The frozen study."""
        return self.frozen.study

    @cached_property
    def lacking(self) -> list[str]:
        """The planned runs that do not have all planned episodes."""
        done = {key: len(run.table) for key, run in self.runs.items()}
        return [f"{key[0]}, seed {key[1]}: {done.get(key, 0):,} of {planned:,}"
                for key, planned in self.frozen.episodes.items() if done.get(key, 0) < planned]  # fmt: skip

    @cached_property
    def tables(self) -> Mapping[Key, Table]:
        """The episodes of each run that are not excluded."""
        found = {}
        for key, run in self.runs.items():
            rows = zip(run.table["sample_id"].tolist(), run.table["strata"].tolist(), strict=True)
            kept = [self.study.keeps(name, run.table.kinds[code]) for name, code in rows]
            found[key] = run.table.take(np.flatnonzero(kept))
        return found

    @cached_property
    def pairs(self) -> Mapping[str, Pairs | None]:
        """Of each hypothesis, by its name."""
        return {one.name: self._pairs(one) for one in self.study.hypotheses}

    def _pairs(self, one: Hypothesis, stratum: tuple[str, str] | None = None) -> Pairs | None:
        """The pairs of a hypothesis over all seeds, or of them those of a stratum; None where no seed has both arms."""
        found = []
        for keys in ([(arm, seed) for arm in one.compare] for seed in self.study.seeds):
            if all(key in self.runs for key in keys):
                sides = [self.tables[key] for key in keys]
                if stratum is not None:
                    sides = [arm.take(rows_by_path(arm, stratum[:1]).get(stratum[1:], np.arange(0))) for arm in sides]
                scale = self.runs[keys[0]].scale(one.metric)
                found.append(pairs_of(sides[0], sides[1], one.metric, scale, one.direction, _TO_JOIN))
        if not found:
            return None
        reasons = dict.fromkeys(reason for pairs in found for reason in pairs.unpaired)
        unpaired = {reason: [name for pairs in found for name in pairs.unpaired.get(reason, ())] for reason in reasons}
        gains = np.concatenate([pairs.gains for pairs in found])
        return Pairs(Table.join([pairs.table for pairs in found]), gains, unpaired, found[0].scale)

    @cached_property
    def findings(self) -> list[Finding]:
        """Of all hypotheses, in their order."""
        asked, n = self.study.hypotheses, len(self.study.primary)
        gains = [self.difference(one) for one in asked]
        p_values = [gain if gain is None else claim_p(gain, one.bounds) for one, gain in zip(asked, gains, strict=True)]
        first, second = adjust_p_values(p_values[:n], p_values[n:], self.study.multiplicity == "sequence")
        rows = zip(asked, gains, p_values, [*first, *second], strict=True)
        return [Finding(one, gain, p, last, self._verdict(one, p, last)) for one, gain, p, last in rows]

    def difference(self, one: Hypothesis, stratum: tuple[str, str] | None = None) -> Difference | None:
        """The gain of a hypothesis, or that in a stratum; of a mean of means as the metric is one."""
        pairs = self.pairs[one.name] if stratum is None else self._pairs(one, stratum)
        if pairs is None or not len(pairs.gains):
            return None
        return difference_of(pairs, next(iter(self.runs.values())).levels.get(one.metric, ()))

    @cached_property
    def interim(self) -> bool:
        """Whether this is an interim analysis that was planned."""
        seen = looks(self.frozen.path) if self.lacking else []
        return bool(seen) and seen[-1][1]

    @property
    def level(self) -> float:
        """What an adjusted p value, one-sided, must not exceed: at the end what planned looks leave of alpha."""
        return (LOOK if self.interim else self.study.final_alpha) / 2

    def _verdict(self, one: Hypothesis, p: float | None, p_adjusted: float) -> str:
        shown = p is not None and p_adjusted <= self.level
        if self.lacking and not (shown and self.interim):
            return "not decided"
        found = "shown" if shown else "cannot be tested" if p is None else "not shown"
        unrated = f", {n:,} pairs {UNRATED}" if (n := self._unpaired(one).get(UNRATED, 0)) else ""
        return f"{found}{' at a planned look' * self.interim}{', with deviations' * self._deviates(one)}{unrated}"

    def _deviates(self, one: Hypothesis) -> bool:
        """Whether a run of either arm deviates or is gone, a planned pair was lost, or the log."""
        mine = {run.manifest["id"] for (arm, _), run in self.runs.items() if arm in one.compare}
        deviating = {event["id"] for event in log.events(self.frozen.path) if event.get("deviations")}
        gone = [(run.arm, run.seed) for run in self.missing] + self.cut_off
        return bool(mine & deviating or self.lost(one)) or any(arm in one.compare for arm, _ in gone)

    @cached_property
    def cut_off(self) -> list[Key]:
        """The runs that saw a line of the study's log which is not there any more."""
        seen = {key: run.manifest["protocol"].get("log") for key, run in self.runs.items()}
        return [key for key, digest in seen.items() if digest and not log.has(self.frozen.path, digest)]

    def lost(self, one: Hypothesis) -> dict[str, int]:
        """Why planned pairs are not there, and how many; not of samples that a metric does not score or rate."""
        return {why: n for why, n in self._unpaired(one).items() if why not in (UNSCORED, UNRATED)}

    def _unpaired(self, one: Hypothesis) -> dict[str, int]:
        pairs = self.pairs[one.name]
        return {why: len(names) for why, names in (pairs.unpaired if pairs else {}).items()}
