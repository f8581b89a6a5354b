"""What sections of the page need of the steps of a run, read in one pass: actions, lengths, words, verdicts, facts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from statistics import fmean
from typing import Any

from components.core.compact import compact_json
from components.core.task_text import INNER, MALFORMED, final_names
from components.core.tools import is_misuse
from components.core.types import Verdict
from runner.storage.schema import Record, StoredStep
from runner.storage.stored import Unpacker

WORDED, WINDOW = 200, 50  # episodes of a run whose words are counted; words in which different ones are counted
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_OWN = "inner"  # the dimension of tools that do nothing outside the agent: to plan, to think


@dataclass
class Episode:
    """An episode, and how many are like it. ``actions``: what the tools of the committed ones are known as, categories
    by their names, malformed where they were not offered; ``misused``: those whose input the problem lacked, None where
    the record does not say; ``tools``: how many were offered, ``dimensions``: those of their categories; ``chain``:
    observations; ``facts`` of the condition, ``grounds`` of a refusal."""

    actions: Sequence[str]
    misused: Sequence[str] | None
    tools: int
    dimensions: Mapping[str, str]
    strata: Mapping[str, str]
    chain: int
    stop: str
    facts: Mapping[str, Any]
    grounds: Mapping[str, Any] | None
    count: int = 0


@dataclass(frozen=True)
class Words:
    """Words of the first episodes: how many per episode, how many different ones, their ``diversity``."""

    mean: float
    different: int
    diversity: float | None

    @classmethod
    def of(cls, episodes: Sequence[Sequence[str]]) -> "Words":
        """The words of episodes."""
        flat = [word for words in episodes for word in words]
        return cls(fmean(map(len, episodes)), len(set(flat)), diversity(flat))


@dataclass
class Steps:
    """``episodes``: those that did not error, equal ones once, in the order of the records. ``verdicts``: of committed
    actions, with the number of the check in its branch. ``words``: what the first ``worded`` episodes were asked and
    replied."""

    episodes: list[Episode] = field(default_factory=list)
    verdicts: list[tuple[int, Verdict | str]] = field(default_factory=list)
    worded: int = 0
    words: list[Words] = field(default_factory=list)

    def add(self, records: Iterable[Record], unpacker: Unpacker) -> Iterator[Record]:
        """Add records one by one, as they are taken from here."""
        known, words = dict[bytes, Episode](), list[list[list[str]]]()
        offer_of = lru_cache(maxsize=256)(partial(_read_offer, unpacker))  # which many episodes may share
        for record in records:
            acted, chain = list[tuple[str, str | None, bool, Sequence[str]]](), 0
            for step in record["steps"]:
                if step.get("committed", True):
                    chain += len(step.get("observed", ()))
                    if (read := step.get("action")) is not None:
                        ends, calls = "refusal" in read or read.get("answer") is not None, read.get("calls", ())
                        acted.append((step["branch"], read.get("error"), ends, [name for _, name, _ in calls]))
                        if "verdict" in step:
                            number = sum(branch == step["branch"] for branch, *_ in acted)
                            self.verdicts.append((number, unpacker.verdict(step["verdict"])))
            if record["stop"] != "error":
                one = _episode(record, final_names(acted), chain, *offer_of(record.get("offered") or None))
                same = known.setdefault(compact_json(list(vars(one).values())), one)
                self.episodes += [one] if same is one else []
                same.count += 1
                if len(words) < WORDED:
                    words.append(_words_of(record["steps"], unpacker))
            yield record
        self.worded, self.words = len(words), list(map(Words.of, zip(*words, strict=True)))


def _words_of(steps: Sequence[StoredStep], unpacker: Unpacker) -> list[list[str]]:
    """The words of an episode: what the user asked first, without images, and all replies."""
    first = next((one for one in (steps[0]["asked"] if steps else ()) if one["role"] == "user"), None)
    asked = () if first is None else (first, *first.get("parts", ()))
    texts = (
        " ".join(unpacker.text(part["text"]) for part in parts if "text" in part)
        for parts in (asked, [step["reply"] for step in steps])
    )
    return [_WORD.findall(text.lower()) for text in texts]


def diversity(words: Sequence[str], window: int = WINDOW) -> float | None:
    """Moving-average type-token ratio, 0 to 1; None for fewer words than the window holds."""
    if len(words) < window:
        return None
    before, total, stretches = dict[str, int](), 0, len(words) - window + 1
    for n, word in enumerate(words):  # in how many stretches it is, without those of the same word before
        first = max(0, n - window + 1, before.get(word, -1) + 1)
        total += max(0, min(n, stretches - 1) - first + 1)
        before[word] = n
    return total / stretches / window


def _read_offer(
    unpacker: Unpacker, offer: str | None
) -> tuple[Mapping[str, Any], Mapping[str, str], Mapping[str, str]]:
    """Name -> facts, name -> category (its own name without one), category -> dimension; without inner tools."""
    own = [(name, facts) for name, facts in unpacker.facts(offer) if facts.get("dimension") != _OWN]
    called = {name: str(facts.get("category") or name) for name, facts in own}
    dimensions = {called[name]: str(facts.get("dimension", "")) for name, facts in own}
    return dict(own), called, dict(sorted(dimensions.items()))


def _episode(
    record: Record, names: Sequence[str], chain: int, tools: Mapping[str, Any], called: Mapping[str, str],
    dimensions: Mapping[str, str],
) -> Episode:  # fmt: skip
    actions = [called.get(name, name if name in INNER else MALFORMED) for name in names]
    kinds, used = record.get("inputs"), [name for name in names if name in tools]
    misused = None if kinds is None else [called[name] for name in used if is_misuse(tools[name], kinds)]
    sizes = len(tools), dimensions, record["strata"], chain, record["stop"]
    return Episode(actions, misused, *sizes, record.get("facts") or {}, record.get("refusal"))
