"""A card per dataset: what its samples are, how long its conversations and chains of calls are, how varied its words.

Episodes are in the records; what only the dataset knows is in their ``card``: fact -> word or number of a sample.
"""

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any

from runner.results.kinds import group_by
from runner.results.pairs import cluster_of
from runner.results.rows import RunMetrics, read_metrics
from runner.results.runs import Run
from runner.results.sections.tools import OWN
from runner.results.sheets import Cell, Section, Sheet, columns
from runner.storage.schema import Record
from runner.storage.stored import Unpacker

SEX, AGE = "sex", "age, years"  # facts of ``Sample.card``
_WORDED = 200  # episodes of a run whose words are counted
_WINDOW = 50  # words
_VALUES = 30  # of a stratum that are shown
_LENGTHS = ("calls of the model", "tool calls", "tools offered", "tokens in", "tokens out")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")


@dataclass
class Episodes:
    """Counts of the episodes of a run: per episode calls of the model, tool calls, tools offered, tokens in and out
    (``lengths``, by the names of ``_LENGTHS``), and the words of the first ones."""

    lengths: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _LENGTHS})
    questions: list[list[str]] = field(default_factory=list)
    replies: list[list[str]] = field(default_factory=list)


def section(runs: Sequence[Run]) -> Section | None:
    """Tables per dataset: its samples, its patients, and the episodes of the runs."""
    counted = [(one, episodes_of(one.run)) for one in read_metrics(*runs)]
    parts: list[Sheet] = []
    for of in group_by([one for one in counted if one[1].questions], lambda one: one[0].run.data).values():
        name, manifest = of[0][0].run.dataset, of[0][0].run.manifest
        samples = list({record["sample_id"]: record for one, _ in of for record in one.run.records}.values())
        parts += [_samples(name, manifest.get("dataset") or {}, samples), *patients(name, samples)]
        lengths: list[list[Cell]] = []
        for one, episodes in of:
            lengths.append([one.label, len(episodes.lengths[_LENGTHS[0]])])
            for numbers in episodes.lengths.values():
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


def episodes_of(run: Run) -> Episodes:
    """Count the episodes of a run that did not error."""
    found, unpacker = Episodes(), Unpacker(run.texts())
    sizes: dict[str, int] = {}
    for record in run.read_whole():
        if record["stop"] == "error":
            continue
        used, offer, steps = record["usage"], record.get("offered") or "", record["steps"]
        if offer not in sizes:
            sizes[offer] = sum(facts.get("dimension") != OWN for facts in unpacker.tools(record).values())
        chain = sum(len(step.get("observed", ())) for step in steps if step.get("committed", True))
        lengths = (used["calls"], chain, sizes[offer], used["input_tokens"], used["output_tokens"])
        for name, length in zip(_LENGTHS, lengths, strict=True):
            found.lengths[name] += [] if length is None else [length]
        if len(found.questions) < _WORDED:
            first = next((one for one in (steps[0]["asked"] if steps else ()) if one["role"] == "user"), None)
            parts = () if first is None else (first, *first.get("parts", ()))  # without images
            for words, texts in ((found.questions, parts), (found.replies, [step["reply"] for step in steps])):
                text = " ".join(unpacker.text(part["text"]) for part in texts if "text" in part)
                words.append(_WORD.findall(text.lower()))
    return found


def _samples(name: str, data: Mapping[str, Any], samples: Sequence[Record]) -> Sheet:
    """What is known of the samples: the manifest, the strata, and what the dataset says of itself."""
    rows: list[list[Cell]] = [
        ["split", str(data.get("split", ""))],
        ["samples", len(samples)],
        ["patients, or groups of samples that belong together", len(set(map(cluster_of, samples)))],
        ["fingerprint", str(data.get("fingerprint", ""))[:16]],
        ["class of the data", str(data.get("privacy", "unknown"))],
    ]
    if inputs := Counter(kind for record in samples for kind in record.get("inputs") or ()):
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


def _words(dataset: str, of: Sequence[tuple[RunMetrics, Episodes]]) -> Sheet:
    parts = ("words", "per episode"), ("different words", "n"), ("diversity", f"share in {_WINDOW} words")
    named = ((f"{what}, {name}", unit) for what in ("asked", "replied") for name, unit in parts)
    rows: list[list[Cell]] = []
    for one, episodes in of:
        rows.append([one.label, len(episodes.questions)])
        for words in (episodes.questions, episodes.replies):
            flat = [word for part in words for word in part]
            rows[-1] += [fmean(map(len, words)), len(set(flat)), diversity(flat)]
    notes = [
        f"Of the first {_WORDED} episodes at most. asked: the first message of the user, as the agent put it. "
        f"diversity: different words among {_WINDOW} that follow one another, the mean over all such stretches "
        "(moving-average type-token ratio, Covington and McFall 2010)."
    ]
    return Sheet(f"{dataset}: words", columns("run", ("episodes", "n"), *named), rows, notes)


def diversity(words: Sequence[str], window: int = _WINDOW) -> float | None:
    """Moving-average type-token ratio, 0 to 1; None for fewer words than the window holds."""
    if len(words) < window:
        return None
    counts, stretch, total = Counter(words[:window]), deque(words[:window]), 0
    for word in (*words[window:], ""):
        total += len(counts)
        oldest = stretch.popleft()
        stretch.append(word)
        counts[word] += 1
        counts[oldest] -= 1
        if not counts[oldest]:
            del counts[oldest]
    return total / (len(words) - window + 1) / window


def patients(dataset: str, records: Sequence[Record]) -> list[Sheet]:
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
