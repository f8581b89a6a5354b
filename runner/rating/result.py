"""Results of filled sheets: shares per category with intervals, by run; agreement of raters and with the model.

How far raters agree beyond chance is Cohen's kappa for two, Fleiss' for more, with 95 % intervals. Source: Cohen 1960;
Fleiss 1971; the interval of Cohen's kappa for independent items by Fleiss, Cohen & Everitt 1969 (statsmodels), all
others by a percentile bootstrap over clusters (patients), with a fixed seed. Of a field with three ordered categories
or more also kappa with linear weights (Cohen 1968; Cicchetti & Allison 1971), of more than two raters the mean over
their pairs (Light 1971).
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

from components.core.errors import ConfigError
from components.core.score_names import JUDGED
from components.rubrics.rubric import NONE
from runner.rating.sheets import Key, RaterSheet
from runner.results.arrays import Floats, np
from runner.results.formulas import RESAMPLES, resampled_sums
from runner.results.intervals import ALIKE, FEWEST, TOO_SMALL, Metric, unfinished_mean
from runner.results.kinds import Scale
from runner.results.rows import rows_of
from runner.results.runs import Run

ALL, JUDGE = "all", "judge"
_LEAST = 1e-12  # a spread below this is none
Pick = tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """``share``: of the n items, all raters pick the same. ``kappa`` is None where all picks are of one category;
    ``no_interval``: why it has none, with one cluster or where all agree."""

    kind: str
    n: int
    share: float | None
    kappa: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    no_interval: str | None = None


def agreement(ratings: Sequence[Sequence[Hashable]], clusters: Sequence[str]) -> Agreement:
    """Of two or more raters, each with a pick per item; ``clusters`` of the items, in the same order."""
    kind = "Cohen's kappa" if len(ratings) == 2 else "Fleiss' kappa"
    n, categories = len(clusters), list(dict.fromkeys(pick for rater in ratings for pick in rater))
    if not n:
        return Agreement(kind, 0, None)
    numbers = np.array([[categories.index(pick) for pick in rater] for rater in ratings])
    same = float((numbers == numbers[0]).all(axis=0).mean())
    if len(categories) < 2:
        return Agreement(kind, n, same)
    apart = len(set(clusters)) == n
    k = len(categories)
    pairs = np.eye(k * k)[numbers[0] * k + numbers[1]]  # a row per item: a 1 where its two picks meet in a k x k table
    columns = pairs if len(ratings) == 2 else np.eye(k)[numbers].sum(axis=0)  # or the raters of each category
    kappa, low, high = _point(columns, len(ratings), k)
    if same < 1.0 and (len(ratings) > 2 or not apart):
        low, high = _resample(columns, clusters, len(ratings), k)
    if low is None or high is None or not low < high:
        return Agreement(kind, n, same, kappa, no_interval=TOO_SMALL if len(set(clusters)) < FEWEST else ALIKE)
    return Agreement(kind, n, same, kappa, low, high)


def _point(columns: Floats, raters: int, k: int) -> tuple[float, float | None, float | None]:
    """Kappa by statsmodels, for two raters with the interval of independent items."""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

    if raters > 2:
        return float(fleiss_kappa(columns)), None, None
    table = columns.sum(axis=0).reshape(k, k)
    if table.trace() == table.sum():  # its standard error is nothing then
        return 1.0, None, None
    with np.errstate(divide="ignore", invalid="ignore"):  # its tests, where a rater always says the same
        found = cohens_kappa(table)
    if not found.std_kappa > _LEAST:
        return float(found.kappa), None, None
    return float(found.kappa), max(-1.0, float(found.kappa_low)), min(1.0, float(found.kappa_upp))


def _resample(columns: Floats, clusters: Sequence[str], raters: int, k: int) -> tuple[float | None, float | None]:
    """The interval over resampled clusters; None for one cluster."""
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    if len(names) < 2:
        return None, None
    agreed = (columns * (columns - 1)).sum(axis=1, keepdims=True)  # pairs of raters that agree, item by item
    columns = np.hstack([columns, agreed])
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, [names[name] for name in clusters], columns)
    sums = resampled_sums(sums.T, RESAMPLES).T
    counts, agreed = sums[:, :-1], sums[:, -1]
    n = counts.sum(axis=1)
    if raters > 2:  # n picks, by each of n / raters items a pair of every two raters
        observed, chance = agreed / (n * (raters - 1)), ((counts / n[:, None]) ** 2).sum(axis=1)
    else:
        tables = counts.reshape(-1, k, k)
        margins = tables.sum(axis=1) * tables.sum(axis=2)
        observed, chance = tables.trace(axis1=1, axis2=2) / n, margins.sum(axis=1) / n**2
    defined = 1 - chance > _LEAST
    if not defined.any():
        return None, None
    low, high = np.percentile((observed[defined] - chance[defined]) / (1 - chance[defined]), [2.5, 97.5])
    return float(low), float(high)


def weighted_agreement(
    ratings: Sequence[Sequence[Hashable]], clusters: Sequence[str], order: Sequence[Hashable]
) -> Agreement:
    """Of two or more raters whose picks are ordered so, the nearer the better."""
    from statsmodels.stats.inter_rater import cohens_kappa

    kind, n, k = "kappa with linear weights", len(clusters), len(order)
    if not n:
        return Agreement(kind, 0, None)
    numbers = np.array([[order.index(pick) for pick in rater] for rater in ratings])
    same = float((numbers == numbers[0]).all(axis=0).mean())
    if len(np.unique(numbers)) < 2:
        return Agreement(kind, n, same)
    pairs = [np.eye(k * k)[a * k + b] for a, b in combinations(numbers, 2)]
    tables = [pair.sum(axis=0).reshape(k, k) for pair in pairs]
    kappas = [1.0 if one.trace() == n else cohens_kappa(one, wt="linear", return_results=False) for one in tables]
    kappa = float(np.mean(kappas))
    names = np.unique(list(clusters), return_inverse=True)[1]
    sums = np.zeros((names.max() + 1, len(pairs) * k * k))
    np.add.at(sums, names, np.hstack(pairs))
    if same == 1.0 or len(sums) < FEWEST:
        return Agreement(kind, n, same, kappa, no_interval=TOO_SMALL if len(sums) < FEWEST else ALIKE)
    shape = (RESAMPLES, len(pairs), k, k)
    resampled = resampled_sums(sums.T, RESAMPLES).T.reshape(shape)
    apart = np.abs(np.arange(k)[:, None] - np.arange(k))
    chance = (resampled.sum(3)[..., None] * resampled.sum(2)[..., None, :] * apart).sum((2, 3))
    found = 1 - (resampled * apart).sum((2, 3)) * resampled.sum((2, 3)) / np.where(chance > 0, chance, np.nan)
    means = found[~np.isnan(found).any(axis=1)].mean(axis=1)
    if not len(means) or means.min() == means.max():
        return Agreement(kind, n, same, kappa, no_interval=ALIKE)
    low, high = np.percentile(means, [2.5, 97.5])
    return Agreement(kind, n, same, kappa, float(low), float(high))


@dataclass(frozen=True)
class Result:
    """Sheets of one draw, and the runs that its items come from."""

    key: Key
    sheets: Sequence[RaterSheet]
    runs: Sequence[Run]

    @cached_property
    def labels(self) -> dict[str, str]:
        """Item -> what its run is called. Raises ConfigError for an item of a run that is not given."""
        known = {str(run.manifest.get("id")): row.label for row in rows_of(self.runs) for run in row.runs}
        for code, origin in self.key.items.items():
            if str(origin["run"]) not in known:
                folder = origin.get("folder", origin["run"])
                raise ConfigError(f"item {code} is of the run {folder}, which is not among the folders given")
        return {code: known[str(origin["run"])] for code, origin in self.key.items.items()}

    @property
    def groups(self) -> list[str]:
        """All items, and each run's where there are several and episodes are rated."""
        names = dict.fromkeys(self.labels.values()) if self.key.rubric.draw.of == "episodes" else {}
        return [ALL, *(names if len(names) > 1 else ())]

    def shares(self, field: str, category: str) -> dict[str, Metric]:
        """Group -> share of items that raters assigned to it: the mean over items of the share of raters."""
        raters = len(self.sheets)
        found = {}
        for group in self.groups:
            codes = [code for code in self.key.items if group in (ALL, self.labels[code])]
            values = [sum(category in one.picked[code][field] for one in self.sheets) / raters for code in codes]
            found[group] = self.mean(values, codes, Scale("proportion" if raters == 1 else "share"))
        return found

    def graded_share(self, field: str, category: str) -> Metric | None:
        """Share of the items graded by the model that it assigned to the group; None if it graded none."""
        codes = [code for code in self.key.items if field in self.grades[code]]
        picked = [category in self.grades[code][field] for code in codes]
        return self.mean(picked, codes, Scale("proportion")) if codes else None

    def mean(self, values: Sequence[float], codes: Sequence[str], scale: Scale) -> Metric:
        """Of a value per item."""
        names = self._clusters(codes)
        numbers = {name: number for number, name in enumerate(sorted(set(names)))}
        return unfinished_mean(values, [numbers[name] for name in names], scale).finished

    def _clusters(self, codes: Sequence[str]) -> list[str]:
        return [str(self.key.items[code]["cluster"]) for code in codes]

    def agreements(self) -> dict[str, Agreement]:
        """Field, or field/category where several may be picked -> agreement of the raters; empty for one rater."""
        return self._agreements([sheet.picked for sheet in self.sheets]) if len(self.sheets) > 1 else {}

    def _agreements(self, raters: Sequence[Mapping[str, Mapping[str, Pick]]]) -> dict[str, Agreement]:
        """Of raters, on the items that all of them rated."""
        found = {}
        for name, field in self.key.rubric.fields.items():
            codes = [code for code in self.key.items if all(name in rater.get(code, {}) for rater in raters)]
            clusters, picks = self._clusters(codes), [[rater[code][name] for code in codes] for rater in raters]
            if field.pick == "one":
                found[name] = agreement(picks, clusters)
                continue
            for category in field.categories:
                chosen = [[category in pick for pick in rater] for rater in picks]
                found[f"{name}/{category}"] = agreement(chosen, clusters)
        return found

    def judge_agreements(self) -> dict[str, dict[str, Agreement]]:
        """Rater -> agreements of the model's grades with the rater's, where both rated an item; empty without any."""
        if not any(self.grades.values()):
            return {}
        return {sheet.rater: self._agreements([self.grades, sheet.picked]) for sheet in self.sheets}

    def weighted(self) -> dict[str, Agreement]:
        """Field with three ordered categories or more -> weighted agreement of the raters; empty for one rater."""
        return self.weigh([sheet.picked for sheet in self.sheets]) if len(self.sheets) > 1 else {}

    def judge_weighted(self) -> dict[str, dict[str, Agreement]]:
        """The same of the model's grades with each rater; empty without any."""
        found = {sheet.rater: self.weigh([self.grades, sheet.picked]) for sheet in self.sheets}
        return {rater: of for rater, of in found.items() if any(one.n for one in of.values())}

    def weigh(self, raters: Sequence[Mapping[str, Mapping[str, Pick]]]) -> dict[str, Agreement]:
        """Weighted agreement field by field, on the items that all of these rated."""
        found = {}
        for name, field in self.key.rubric.fields.items():
            if field.ordered and field.pick == "one" and len(field.categories) > 2:
                codes = [code for code in self.key.items if all(name in rater.get(code, {}) for rater in raters)]
                picks = [[rater[code][name][0] for code in codes] for rater in raters]
                found[name] = weighted_agreement(picks, self._clusters(codes), list(field.categories))
        return found

    @cached_property
    def otherwise(self) -> list[Run]:
        """Runs that a model graded by another rubric of this name, as the version of their scorer says."""
        begins, digest = f"judged/{self.key.rubric.name}/", self.key.rubric.digest
        graded = (
            run for run in self.runs if any(name.startswith(begins) for one in run.records for name in one["scores"])
        )
        versions = ((run, [str(one) for one in (run.manifest.get("scorers") or {}).values()]) for run in graded)
        return [run for run, named in versions if named and not any(digest in version for version in named)]

    @cached_property
    def grades(self) -> dict[str, dict[str, Pick]]:
        """Item -> field -> what the model picked; fields that it did not grade by this rubric are left out."""
        runs = [run for run in self.runs if run not in self.otherwise]
        return self.picks_of(runs, partial(JUDGED.format, self.key.rubric.name))

    def picks_of(self, runs: Sequence[Run], name_of: Callable[[str, str], str]) -> dict[str, dict[str, Pick]]:
        """Item -> field -> the categories whose score is not zero; fields without all of their scores are left out.
        ``name_of``: the name of the score of a field's category."""
        records = [(str(run.manifest.get("id")), one) for run in runs for one in run.records]
        scores = {(name, one["sample_id"], one["epoch"]): one["scores"] for name, one in records}
        keys = {code: (str(of["run"]), of["sample_id"], of["epoch"]) for code, of in self.key.items.items()}
        picks: dict[str, dict[str, Pick]] = {code: {} for code in keys}
        for (code, key), (name, field) in product(keys.items(), self.key.rubric.fields.items()):
            of = {one: scores.get(key, {}).get(name_of(name, one)) for one in field.categories}
            if None not in of.values():
                picks[code][name] = tuple(one for one, value in of.items() if value)
        return picks

    def disagreements(self) -> list[dict[str, str]]:
        """A row per item and field on which raters differ: the value of each, and of the model where it graded."""
        rows = []
        for code in self.key.items:
            for name in self.key.rubric.fields:
                picks = {sheet.rater: sheet.picked[code][name] for sheet in self.sheets}
                if len(set(picks.values())) > 1:
                    picks |= {JUDGE: self.grades[code][name]} if name in self.grades[code] else {}
                    values = {rater: "; ".join(pick) or NONE for rater, pick in picks.items()}
                    rows.append({"item": code, "field": name, **values})
        return rows

    def as_dict(self) -> dict[str, Any]:
        """All numbers, JSON-ready."""
        rubric = self.key.rubric
        shares = {f"{field}/{category}": self.shares(field, category) for field, category in rubric.marks()}
        grades = {f"{field}/{category}": self.graded_share(field, category) for field, category in rubric.marks()}
        return {
            "rubric": rubric.name, "source": rubric.source, "n": len(self.key.items),
            "raters": [sheet.rater for sheet in self.sheets],
            "graded": sorted({str(self.key.items[code]["run"]) for code, of in self.grades.items() if of}),
            "shares": {name: {group: one.as_dict() for group, one in of.items()} for name, of in shares.items()},
            "grades": {name: one.as_dict() for name, one in grades.items() if one is not None},
            "agreement": {name: asdict(one) for name, one in self.agreements().items()},
            "judge": {
                rater: {name: asdict(one) for name, one in of.items()} for rater, of in self.judge_agreements().items()
            },
            "weighted": {name: asdict(one) for name, one in self.weighted().items()},
            "judge_weighted": {
                rater: {name: asdict(one) for name, one in of.items()} for rater, of in self.judge_weighted().items()
            },
            "disagreements": self.disagreements(),
        }  # fmt: skip
