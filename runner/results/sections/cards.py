"""A card per dataset: what its samples are, how long its conversations and chains of calls are, how varied its words.

Episodes are in the records; what only the dataset knows is in their ``card``: fact -> word or number of a sample.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from runner.results.pairs import cluster_of
from runner.results.run_metrics import RunMetrics, read_metrics
from runner.results.runs import Run
from runner.results.sections.tools import OWN
from runner.results.sheets import Cell, Column, Section, Sheet
from runner.storage.stored import Unpacker

SEX, AGE = "sex", "age, years"  # facts of ``Sample.card``
Record = Mapping[str, Any]
_WORDED = 200  # episodes of a run whose words are counted
_WINDOW = 50  # words
_VALUES = 30  # of a stratum that are shown
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


@dataclass
class Episodes:
    """What is counted in the episodes of a run: per episode calls of the model, tool calls, tools offered, tokens in
    and out, and the words of the first ones, asked (the first message of the user) and replied."""

    calls: list[int] = field(default_factory=list)
    chain: list[int] = field(default_factory=list)
    tools: list[int] = field(default_factory=list)
    tokens_in: list[int] = field(default_factory=list)
    tokens_out: list[int] = field(default_factory=list)
    asked: list[list[str]] = field(default_factory=list)
    replied: list[list[str]] = field(default_factory=list)


def section(runs: Sequence[Run]) -> Section | None:
    """Tables per dataset: its samples, its patients, and the episodes of the runs."""
    found = read_metrics(runs)
    counted = {id(one): episodes_of(one.run) for one in found}
    there = [one for one in found if counted[id(one)].calls]
    parts: list[Sheet] = []
    for data in dict.fromkeys(one.run.data for one in there):
        of = [one for one in there if one.run.data == data]
        records = {record["sample_id"]: record for one in of for record in one.run.records}
        people = patients(of[0].dataset, [*records.values()])
        parts += [_samples(of), *people, _lengths(of, counted), _words(of, counted)]
    if not parts:
        return None
    intro = (
        "The data as the records have them: calls of the model are the length of the conversation, tool calls that of "
        "the chain. An episode that ended in an error is left out."
    )
    return Section("cards", "Datasets", intro, parts)


def episodes_of(run: Run) -> Episodes:
    """Count the episodes of a run that did not error."""
    found, unpacker = Episodes(), Unpacker(run.texts())
    sizes: dict[str, int] = {}
    for record in run.whole():
        if record["stop"] == "error":
            continue
        used = record["usage"]
        found.calls.append(used["calls"])
        for tokens, n in ((found.tokens_in, used["input_tokens"]), (found.tokens_out, used["output_tokens"])):
            tokens += [] if n is None else [n]
        steps = [step for step in record["steps"] if step.get("committed", True)]
        found.chain.append(sum(len(step.get("observed", ())) for step in steps))
        offer = record.get("offered") or ""
        if offer not in sizes:
            sizes[offer] = sum(facts.get("dimension") != OWN for facts in unpacker.tools(record).values())
        found.tools.append(sizes[offer])
        if len(found.asked) < _WORDED:
            found.asked.append(_WORD.findall(" ".join(_asked(record, unpacker)).lower()))
            found.replied.append(_WORD.findall(" ".join(_replied(record, unpacker)).lower()))
    return found


def _asked(record: Mapping[str, Any], unpacker: Unpacker) -> Iterator[str]:
    """The first message of the user, without images."""
    asked = record["steps"][0]["asked"] if record["steps"] else ()
    message: Mapping[str, Any] = next((one for one in asked if one["role"] == "user"), {})
    for part in (message, *message.get("parts", ())):
        if "text" in part:
            yield unpacker.text(part["text"])


def _replied(record: Mapping[str, Any], unpacker: Unpacker) -> Iterator[str]:
    """The replies of the model."""
    return (unpacker.text(step["reply"]["text"]) for step in record["steps"] if "text" in step["reply"])


def _samples(of: Sequence[RunMetrics]) -> Sheet:
    """What is known of the samples: the manifest, the strata, and what the dataset says of itself."""
    notes, records = of[0].run.notes, [record for one in of for record in one.run.records]
    data = notes.get("dataset") or {}
    once = {record["sample_id"]: record for record in records}
    inputs = Counter(kind for record in once.values() for kind in record.get("inputs") or ())
    rows: list[list[Cell]] = [
        ["split", str(data.get("split", ""))],
        ["samples", len(once)],
        ["patients, or groups of samples that belong together", len({cluster_of(record) for record in once.values()})],
        ["fingerprint", str(data.get("fingerprint", ""))[:16]],
        ["class of the data", str(data.get("privacy", "unknown"))],
    ]
    if inputs:
        rows.append(["other inputs", _counts(inputs)])
    for stratum in dict.fromkeys(name for record in once.values() for name in record["strata"]):
        values = Counter(str(record["strata"][stratum]) for record in once.values() if stratum in record["strata"])
        rows.append([f"{stratum}, samples of each", _counts(values)])
    facts = dict.fromkeys(name for record in once.values() for name in record.get("card") or ())
    rows += [
        [name, _fact([own[name] for one in once.values() if name in (own := one.get("card") or {})])] for name in facts
    ]
    return Sheet(f"{of[0].dataset}: samples", [Column("fact"), Column("value")], rows)


def _fact(values: Sequence[str | float]) -> str:
    """What the samples say of themselves: how many say each word; of numbers mean, median and both ends."""
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        return _counts(Counter(map(str, values)))
    middle = f"mean {fmean(numbers):.4g}, median {median(numbers):g}"
    return f"{middle}, {min(numbers):g} to {max(numbers):g} (n = {len(numbers):,})"


def _counts(values: Mapping[str, int]) -> str:
    """Values and how many there are of each, the most first."""
    ordered = sorted(values.items(), key=lambda pair: -pair[1])
    more = f", and {len(ordered) - _VALUES} more values" if len(ordered) > _VALUES else ""
    return ", ".join(f"{name} {n:,}" for name, n in ordered[:_VALUES]) + more


def _lengths(of: Sequence[RunMetrics], counted: Mapping[int, Episodes]) -> Sheet:
    """How long episodes were: median and most of each."""
    names = {
        "calls": "calls of the model", "chain": "tool calls", "tools": "tools offered", "tokens_in": "tokens in",
        "tokens_out": "tokens out",
    }  # fmt: skip
    columns = [Column("run"), Column("episodes", "n")]
    columns += [Column(name, f"per episode, {what}") for name in names.values() for what in ("median", "most")]
    rows: list[list[Cell]] = []
    for one in of:
        values: list[list[int]] = [getattr(counted[id(one)], name) for name in names]
        rows.append([one.label, len(values[0]), *(cell for part in values for cell in _middle_and_most(part))])
    return Sheet(f"{of[0].dataset}: lengths and toolsets", columns, rows)


def _middle_and_most(values: Sequence[int]) -> list[Cell]:
    """The median, a whole number where it is one, and the greatest; neither where nothing is known."""
    if not values:
        return [None, None]
    found = median(values)
    return [int(found) if found == int(found) else found, max(values)]


def _words(of: Sequence[RunMetrics], counted: Mapping[int, Episodes]) -> Sheet:
    """How many words and how varied they are."""
    columns = [Column("run"), Column("episodes", "n")]
    for what in ("asked", "replied"):
        columns += [Column(f"{what}, words", "per episode"), Column(f"{what}, different words", "n")]
        columns.append(Column(f"{what}, diversity", f"share in {_WINDOW} words"))
    rows: list[list[Cell]] = []
    for one in of:
        cells: list[Cell] = []
        for words in (counted[id(one)].asked, counted[id(one)].replied):
            flat = [word for part in words for word in part]
            cells += [fmean(map(len, words)), len(set(flat)), diversity(flat)]
        rows.append([one.label, len(counted[id(one)].asked), *cells])
    notes = [
        f"Of the first {_WORDED} episodes at most. asked: the first message of the user, as the agent put it. "
        f"diversity: different words among {_WINDOW} that follow one another, the mean over all such stretches "
        "(moving-average type-token ratio, Covington and McFall 2010)."
    ]
    return Sheet(f"{of[0].dataset}: words", columns, rows, notes)


def diversity(words: Sequence[str], window: int = _WINDOW) -> float | None:
    """Moving-average type-token ratio, 0 to 1; None for fewer words than the window holds."""
    last = len(words) - window  # where the last stretch begins
    if last < 0:
        return None
    before: dict[str, int] = {}
    total = 0
    for n, word in enumerate(words):  # in how many stretches it is the first of its kind
        ends, begins = n if n < last else last, before.get(word, -1)
        if begins < n - window:
            begins = n - window
        if begins < ends:
            total += ends - begins
        before[word] = n
    return total / (last + 1) / window


def patients(dataset: str, records: Sequence[Record]) -> list[Sheet]:
    """Sex and age by each stratum that is a property of the patient, as the anatomy is; none without these facts.

    Source: Zheng et al. 2024, arXiv 2412.09529, Figure 2a-b, which has both by anatomy.
    """
    patients: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if not {SEX, AGE}.isdisjoint(record.get("card") or {}):
            patients[cluster_of(record)].append(record)
    names = dict.fromkeys(name for of in patients.values() for record in of for name in record["strata"])
    found = (_patient_values(patients, name) for name in names)
    return [
        _patient_sheet(dataset, name, patients, of)
        for name, of in zip(names, found, strict=True)
        if len({*of.values()}) > 1
    ]


def _patient_values(patients: Mapping[str, Sequence[Record]], stratum: str) -> dict[str, str]:
    """Patient -> value of a stratum; empty where some patient has several."""
    values = {name: {record["strata"].get(stratum) for record in of} for name, of in patients.items()}
    if any(len(of) > 1 for of in values.values()):
        return {}
    return {name: str(value) for name, of in values.items() for value in of if value is not None}


def _patient_sheet(
    dataset: str, stratum: str, patients: Mapping[str, Sequence[Record]], value_of: Mapping[str, str]
) -> Sheet:
    """A row per value, in the order of the dataset: patients, those of each sex, median and range of the age."""
    cards = {name: patients[name][0].get("card") or {} for name in value_of}
    sexes = sorted({str(card[SEX]) for card in cards.values() if SEX in card})
    columns = [Column(stratum), Column("patients", "n"), *(Column(sex, "n") for sex in sexes)]
    columns += [Column(f"age, {what}", "years") for what in ("median", "lowest", "highest")]
    rows: list[list[Cell]] = []
    for value in dict.fromkeys(value_of.values()):
        of = [cards[name] for name in value_of if value_of[name] == value]
        ages = [card[AGE] for card in of if isinstance(card.get(AGE), int | float)]
        counts = [sum(card.get(SEX) == sex for card in of) for sex in sexes]
        rows.append([value, len(of), *counts, *([median(ages), min(ages), max(ages)] if ages else [None] * 3)])
    return Sheet(f"{dataset}: patients by {stratum}", columns, rows)
