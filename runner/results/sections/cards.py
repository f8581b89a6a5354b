"""A card per dataset: what its samples are, how long its conversations and chains of calls are, how varied its words.

Episodes are in the records; what only the dataset knows is in their ``card``: fact -> word or number of a sample.
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from runner.results.kinds import grouped
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
    (``lengths``, by the names of ``_LENGTHS``), and the words of the first ones, asked and replied."""

    lengths: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _LENGTHS})
    asked: list[list[str]] = field(default_factory=list)
    replied: list[list[str]] = field(default_factory=list)


def section(runs: Sequence[Run]) -> Section | None:
    """Tables per dataset: its samples, its patients, and the episodes of the runs."""
    found = read_metrics(runs)
    counted = {one.run: episodes_of(one.run) for one in found}
    there = [one for one in found if counted[one.run].asked]
    parts: list[Sheet] = []
    for of in grouped(there, lambda one: one.run.data).values():
        samples = list({record["sample_id"]: record for one in of for record in one.run.records}.values())
        parts += [
            _samples(of[0], samples),
            *patients(of[0].dataset, samples),
            _lengths(of, counted),
            _words(of, counted),
        ]
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
        used, offer = record["usage"], record.get("offered") or ""
        if offer not in sizes:
            sizes[offer] = sum(facts.get("dimension") != OWN for facts in unpacker.tools(record).values())
        chain = sum(len(step.get("observed", ())) for step in record["steps"] if step.get("committed", True))
        lengths = (used["calls"], chain, sizes[offer], used["input_tokens"], used["output_tokens"])
        for name, length in zip(_LENGTHS, lengths, strict=True):
            found.lengths[name] += [] if length is None else [length]
        if len(found.asked) < _WORDED:
            found.asked.append(_WORD.findall(" ".join(_asked(record, unpacker)).lower()))
            replies = [step["reply"]["text"] for step in record["steps"] if "text" in step["reply"]]
            found.replied.append(_WORD.findall(" ".join(unpacker.text(reply) for reply in replies).lower()))
    return found


def _asked(record: Record, unpacker: Unpacker) -> Iterator[str]:
    """The first message of the user, without images."""
    asked = record["steps"][0]["asked"] if record["steps"] else ()
    message = next((one for one in asked if one["role"] == "user"), None)
    for part in () if message is None else (message, *message.get("parts", ())):
        if "text" in part:
            yield unpacker.text(part["text"])


def _samples(one: RunMetrics, samples: Sequence[Record]) -> Sheet:
    """What is known of the samples: the manifest, the strata, and what the dataset says of itself."""
    data = one.run.manifest.get("dataset") or {}
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
        values = Counter(str(record["strata"][stratum]) for record in samples if stratum in record["strata"])
        rows.append([f"{stratum}, samples of each", _counts(values)])
    cards = [record.get("card") or {} for record in samples]
    facts = dict.fromkeys(name for card in cards for name in card)
    rows += [[name, _fact([card[name] for card in cards if name in card])] for name in facts]
    return Sheet(f"{one.dataset}: samples", columns("fact", "value"), rows)


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


def _lengths(of: Sequence[RunMetrics], counted: Mapping[Run, Episodes]) -> Sheet:
    heads = columns(
        "run", ("episodes", "n"), *((name, f"per episode, {what}") for name in _LENGTHS for what in ("median", "most"))
    )
    rows: list[list[Cell]] = []
    for one in of:
        lengths = list(counted[one.run].lengths.values())
        cells = (cell for part in lengths for cell in ((_median(part), max(part)) if part else (None, None)))
        rows.append([one.label, len(lengths[0]), *cells])
    return Sheet(f"{of[0].dataset}: lengths and toolsets", heads, rows)


def _median(values: Sequence[int]) -> int | float:
    """The median, a whole number where it is one."""
    middle = median(values)
    return int(middle) if middle == int(middle) else middle


def _words(of: Sequence[RunMetrics], counted: Mapping[Run, Episodes]) -> Sheet:
    parts = ("words", "per episode"), ("different words", "n"), ("diversity", f"share in {_WINDOW} words")
    named = ((f"{what}, {name}", unit) for what in ("asked", "replied") for name, unit in parts)
    rows: list[list[Cell]] = []
    for one in of:
        episodes, cells = counted[one.run], list[Cell]()
        for words in (episodes.asked, episodes.replied):
            flat = [word for part in words for word in part]
            cells += [fmean(map(len, words)), len(set(flat)), diversity(flat)]
        rows.append([one.label, len(episodes.asked), *cells])
    notes = [
        f"Of the first {_WORDED} episodes at most. asked: the first message of the user, as the agent put it. "
        f"diversity: different words among {_WINDOW} that follow one another, the mean over all such stretches "
        "(moving-average type-token ratio, Covington and McFall 2010)."
    ]
    return Sheet(f"{of[0].dataset}: words", columns("run", ("episodes", "n"), *named), rows, notes)


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
    """Sex and age by each stratum that is a property of the patient, as the anatomy is; none without these facts.

    Source: Zheng et al. 2024, arXiv 2412.09529, Figure 2a-b, which has both by anatomy.
    """
    described = [record for record in records if not {SEX, AGE}.isdisjoint(record.get("card") or {})]
    groups = grouped(described, cluster_of)
    sheets = []
    for stratum in dict.fromkeys(name for record in described for name in record["strata"]):
        values = {patient: {record["strata"].get(stratum) for record in of} for patient, of in groups.items()}
        if any(len(of) > 1 for of in values.values()):  # not a property of the patient
            continue
        value_of = {patient: value for patient, of in values.items() for value in of if value is not None}
        if len(set(value_of.values())) > 1:
            sheets.append(_patient_sheet(dataset, stratum, groups, value_of))
    return sheets


def _patient_sheet(
    dataset: str, stratum: str, patients: Mapping[str, Sequence[Record]], value_of: Mapping[str, str]
) -> Sheet:
    """A row per value, in the order of the dataset: patients, those of each sex, median and range of the age."""
    cards = {name: patients[name][0].get("card") or {} for name in value_of}
    sexes = sorted({str(card[SEX]) for card in cards.values() if SEX in card})
    heads = columns(
        stratum, ("patients", "n"), *((sex, "n") for sex in sexes),
        *((f"age, {what}", "years") for what in ("median", "lowest", "highest")),
    )  # fmt: skip
    rows: list[list[Cell]] = []
    for value, names in grouped(value_of, value_of.__getitem__).items():
        of = [cards[name] for name in names]
        ages = [age for card in of if isinstance(age := card.get(AGE), int | float)]
        counts = [sum(card.get(SEX) == sex for card in of) for sex in sexes]
        rows.append([value, len(of), *counts, *([median(ages), min(ages), max(ages)] if ages else [None] * 3)])
    return Sheet(f"{dataset}: patients by {stratum}", heads, rows)
