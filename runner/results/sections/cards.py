"""A card per dataset: what its samples are, how long its conversations and chains of calls are, how varied its words.

Episodes are in the records; what only the dataset knows is in their ``card``: fact -> word or number of a sample.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from operator import attrgetter
from statistics import fmean, median
from typing import Any

from runner.results.kinds import group_by
from runner.results.rows import RunMetrics, read_metrics
from runner.results.runs import Run
from runner.results.sheets import Cell, Section, Sheet, columns
from runner.results.steps import WINDOW, WORDED, Steps
from runner.results.table import Table, cluster_of

SEX, AGE = "sex", "age, years"  # facts of ``Sample.card``
_VALUES = 30  # of a stratum that are shown
_CHAIN, _TOOLS = attrgetter("chain"), attrgetter("tools")
_LENGTHS = ("calls of the model", "tool calls", "tools offered", "tokens in", "tokens out")


def section(runs: Sequence[Run]) -> Section | None:
    """Tables per dataset: its samples, its patients, and the episodes of the runs."""
    counted = [(one, one.run.steps) for one in read_metrics(*runs)]
    parts: list[Sheet] = []
    for of in group_by([one for one in counted if one[1].worded], lambda one: one[0].run.data).values():
        name, manifest = of[0][0].run.dataset, of[0][0].run.manifest
        samples = _samples_of([one.run.table for one, _ in of])
        parts += [_samples(name, manifest.get("dataset") or {}, samples), *patients(name, samples)]
        lengths: list[list[Cell]] = []
        for one, steps in of:
            lengths.append([one.label, sum(episode.count for episode in steps.episodes)])
            for numbers in _lengths(one.run).values():
                middle = median(numbers) if numbers else None
                middle = int(middle) if middle is not None and middle == int(middle) else middle
                lengths[-1] += [middle, max(numbers, default=None)]
        named = ((name, f"per episode, {what}") for name in _LENGTHS for what in ("median", "most"))
        parts.append(Sheet(f"{name}: lengths and toolsets", columns("run", ("episodes", "n"), *named), lengths))
        parts.append(_words(name, of))
    intro = (
        "The data as the records have them: calls of the model are the length of the conversation, tool calls that of "
        "the chain. An episode that ended in an error is left out."
    )
    return Section("cards", "Datasets", intro, parts) if parts else None


def _lengths(run: Run) -> dict[str, list[int]]:
    """Per episode calls of the model, tool calls, tools offered, tokens in and out; without what is not known."""
    there = run.table["stop"] != "error"
    used = [run.table[f"usage/{key}"][there].tolist() for key in ("calls", "input_tokens", "output_tokens")]
    calls, taken, written = ([int(n) for n in numbers if not isnan(n)] for numbers in used)
    chains, tools = ([n for one in run.steps.episodes for n in [get(one)] * one.count] for get in (_CHAIN, _TOOLS))
    return dict(zip(_LENGTHS, (calls, chains, tools, taken, written), strict=True))


def _samples_of(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """What the records say of each sample, of several the last."""
    last = {sample: (table, row) for table in tables for row, sample in enumerate(table["sample_id"].tolist())}
    names = ("sample_id", "cluster", "card", "inputs")
    return [
        {name: table[name][row] for name in names} | {"strata": table.kinds[table["strata"][row]]}
        for table, row in last.values()
    ]


def _samples(name: str, data: Mapping[str, Any], samples: Sequence[Mapping[str, Any]]) -> Sheet:
    """What is known of the samples: the manifest, the strata, and what the dataset says of itself."""
    rows: list[list[Cell]] = [
        ["split", str(data.get("split", ""))],
        ["samples", len(samples)],
        ["patients, or groups of samples that belong together", len(set(map(cluster_of, samples)))],
        ["fingerprint", str(data.get("fingerprint", ""))[:16]],
        ["class of the data", str(data.get("privacy", "unknown"))],
    ]
    if inputs := Counter(kind for record in samples for kind in record["inputs"] or ()):
        rows.append(["other inputs", _counts(inputs)])
    for stratum in dict.fromkeys(name for record in samples for name in record["strata"]):
        counts = Counter(str(record["strata"][stratum]) for record in samples if stratum in record["strata"])
        rows.append([f"{stratum}, samples of each", _counts(counts)])
    cards = [record.get("card") or {} for record in samples]
    for fact in dict.fromkeys(name for card in cards for name in card):
        values = [card[fact] for card in cards if fact in card]
        numbers = [value for value in values if not isinstance(value, str)]
        text = _counts(Counter(map(str, values)))
        if len(numbers) == len(values):
            ends = f"{min(numbers):g} to {max(numbers):g} (n = {len(numbers):,})"
            text = f"mean {fmean(numbers):.4g}, median {median(numbers):g}, {ends}"
        rows.append([fact, text])
    return Sheet(f"{name}: samples", columns("fact", "value"), rows)


def _counts(values: Mapping[str, int]) -> str:
    """Values and how many there are of each, the most first."""
    ordered = sorted(values.items(), key=lambda pair: -pair[1])
    more = f", and {len(ordered) - _VALUES} more values" if len(ordered) > _VALUES else ""
    return ", ".join(f"{name} {n:,}" for name, n in ordered[:_VALUES]) + more


def _words(dataset: str, of: Sequence[tuple[RunMetrics, Steps]]) -> Sheet:
    parts = ("words", "per episode"), ("different words", "n"), ("diversity", f"share in {WINDOW} words")
    named = ((f"{what}, {name}", unit) for what in ("asked", "replied") for name, unit in parts)
    rows: list[list[Cell]] = []
    for one, steps in of:
        rows.append([one.label, steps.worded, *(number for words in steps.words for number in vars(words).values())])
    notes = [
        f"Of the first {WORDED} episodes at most. asked: the first message of the user, as the agent put it. "
        f"diversity: different words among {WINDOW} that follow one another, the mean over all such stretches "
        "(moving-average type-token ratio, Covington and McFall 2010)."
    ]
    return Sheet(f"{dataset}: words", columns("run", ("episodes", "n"), *named), rows, notes)


def patients(dataset: str, records: Sequence[Mapping[str, Any]]) -> list[Sheet]:
    """Sex and age by each stratum that is a property of the patient, as the anatomy is; none without these facts. A row
    per value, in the order of the dataset: patients, those of each sex, median and range of the age. Source: Zheng et
    al. 2024, arXiv 2412.09529, Figure 2a-b, which has both by anatomy."""
    described = [record for record in records if not {SEX, AGE}.isdisjoint(record.get("card") or {})]
    groups = group_by(described, cluster_of)
    sheets = []
    for stratum in dict.fromkeys(name for record in described for name in record["strata"]):
        values = {patient: {record["strata"].get(stratum) for record in of} for patient, of in groups.items()}
        value_of = {patient: value for patient, of in values.items() for value in of if value is not None}
        if any(len(of) > 1 for of in values.values()) or len(set(value_of.values())) < 2:
            continue
        cards = {name: groups[name][0].get("card") or {} for name in value_of}
        sexes = sorted({str(card[SEX]) for card in cards.values() if SEX in card})
        heads = columns(
            stratum, ("patients", "n"), *((sex, "n") for sex in sexes),
            *((f"age, {what}", "years") for what in ("median", "lowest", "highest")),
        )  # fmt: skip
        rows: list[list[Cell]] = []
        for value, names in group_by(value_of, value_of.__getitem__).items():
            ages = [age for name in names if isinstance(age := cards[name].get(AGE), int | float)]
            counts = [sum(cards[name].get(SEX) == sex for name in names) for sex in sexes]
            rows.append([value, len(names), *counts, *([median(ages), min(ages), max(ages)] if ages else [None] * 3)])
        sheets.append(Sheet(f"{dataset}: patients by {stratum}", heads, rows))
    return sheets
