"""Any dataset with its questions changed: another order of options, other words, less context.

Ids stay those of the dataset within, so that a run is paired with one on the plain questions, sample by sample. The
table of paraphrases (``perturbed_words.yaml``) is the project's own. Order and words change no answer; context that is
dropped may hold what the answer needs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Annotated, Literal

from annotated_types import Gt, Lt

from components.core.errors import ConfigError
from components.core.protocols import Dataset
from components.core.traits import DatasetTraits, declared
from components.core.types import Privacy, Problem, Sample
from components.text.structured import read_yaml

Kind = Literal["options", "paraphrase", "context"]
_WORDS = Path(__file__).with_name("perturbed_words.yaml")
_BOUND = re.compile(
    r"\b(?:above|below|both|either|neither|options? [A-J])\b|\b[A-J](?:,? (?:and|or) |, ?| ?[/&] ?)[A-J]\b"
    r"|\b(?:only|except) [A-J]\b|\b[A-J] only\b",
    re.IGNORECASE,
)
_PART = re.compile(r"((?<=[.!?])\s+|\n+)")  # between two sentences


@dataclass(frozen=True)
class Perturbed:
    """The samples of ``inner``, those of its evaluated split perturbed in each way of ``perturb`` where one fits.

    ``options``: in another order, with the target's letter; not if an option refers to others or is a letter itself.
    ``paraphrase``: words of the table, each occurrence one of its ways of saying it. ``context``: each sentence is left
    out with probability ``dropped``, one at least and never all; where there is none, of the question before its last
    sentence, if it has options. Draws depend on ``seed`` and the sample's id. ``metadata["perturbed"]`` lists what was
    done to a sample, its stratum ``perturbed`` too, and ``plain`` is the problem as it was. Without ``perturb`` it is
    ``inner``.
    """

    inner: Dataset
    perturb: Sequence[Kind] = ("options", "paraphrase", "context")
    dropped: Annotated[float, Gt(0), Lt(1)] = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        if twice := [one for one in self.perturb if list(self.perturb).count(one) > 1]:
            raise ConfigError(f"perturb: {twice[0]!r} is duplicated; name each way once")

    @property
    def splits(self) -> Sequence[str]:
        """Those of the dataset within."""
        return self.inner.splits

    @property
    def split(self) -> str:
        """That of the dataset within."""
        return self.inner.split

    @property
    def privacy(self) -> Privacy:
        """That of the dataset within."""
        return self.inner.privacy

    @property
    def traits(self) -> DatasetTraits:
        """The fingerprint of the plain questions, with which these are paired."""
        return DatasetTraits(base=declared(self.inner, DatasetTraits).base or self.inner.fingerprint)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the inner dataset, and of all settings that decide the changes."""
        if not self.perturb:
            return self.inner.fingerprint
        settings = f"{self.inner.fingerprint}/{sorted(self.perturb)}/{self.dropped}/{self.seed}/".encode()
        return sha256(settings + _WORDS.read_bytes()).hexdigest()

    def load(self, split: str) -> Iterable[Sample]:
        """The samples in their order; other splits than the evaluated one as they are. Raises ConfigError."""
        samples = self.inner.load(split)
        return map(self._perturbed, samples) if self.perturb and split == self.split else samples

    def _perturbed(self, sample: Sample) -> Sample:
        done, plain = list[str](), sample.known_as
        for kind in dict.fromkeys(self.perturb):
            rng, before = Random(f"{self.seed}/{sample.problem.id}/{kind}"), sample.problem
            if kind == "options":
                sample = _reordered(sample, rng)
            elif kind == "paraphrase":
                sample = replace(sample, problem=paraphrase(before, rng))
            else:
                sample = replace(sample, problem=drop_context(before, self.dropped, rng))
            if sample.problem != before:
                done.append(kind)
        strata = {**sample.strata, "perturbed": "+".join(done) or "no"}
        return replace(sample, metadata={**sample.metadata, "perturbed": done}, strata=strata, plain=plain)


def _reordered(sample: Sample, rng: Random) -> Sample:
    """The sample with its options in another order; as it is where its target is none of their letters."""
    choices, target = sample.problem.choices, sample.target
    texts = list(choices.values())
    if not isinstance(target, str) or target not in choices or len(set(texts)) < len(texts) or len(texts) < 2:
        return sample
    if any(_BOUND.search(text) or text.strip(" .()").upper() in choices for text in texts):
        return sample
    while (order := rng.sample(texts, len(texts))) == texts:
        pass
    fresh = dict(zip(choices, order, strict=True))
    letter = next(letter for letter, text in fresh.items() if text == choices[target])
    return replace(sample, problem=replace(sample.problem, choices=fresh), target=letter)


def paraphrase(problem: Problem, rng: Random) -> Problem:
    """The problem with other words in its question, where the table has some."""
    words, pattern = _words()

    def other(found: re.Match[str]) -> str:
        phrase = rng.choice(words[found[0].casefold()])
        return phrase[0].upper() + phrase[1:] if found[0][0].isupper() else phrase

    return replace(problem, question=pattern.sub(other, problem.question))


def drop_context(problem: Problem, dropped: float, rng: Random) -> Problem:
    """The problem with less context, or with less before what a question with options asks."""
    if problem.context:
        return replace(problem, context=_without_some(problem.context, dropped, rng))
    if not problem.choices:
        return problem
    *before, gap, asked = ("", "", *_PART.split(problem.question))
    kept = _without_some("".join(before), dropped, rng)
    return replace(problem, question=f"{kept}{gap}{asked}") if kept else problem


def _without_some(text: str, dropped: float, rng: Random) -> str:
    """The text without some of its sentences; whole where it has but one."""
    parts = _PART.split(text)
    sentences, gaps = parts[::2], parts[1::2]
    if len(sentences) < 2:
        return text
    out = {n for n in range(len(sentences)) if rng.random() < dropped} or {rng.randrange(len(sentences))}
    if len(out) == len(sentences):
        out.discard(rng.choice(sorted(out)))
    kept = [n for n in range(len(sentences)) if n not in out]
    return "".join(sentences[n] + (gaps[n] if n != kept[-1] else "") for n in kept)


@lru_cache(maxsize=1)
def _words() -> tuple[Mapping[str, Sequence[str]], re.Pattern[str]]:
    """Phrase in small letters -> other ways to say it, and what finds them, the longest first."""
    table: dict[str, list[str]] = read_yaml(_WORDS)
    words = {phrase.casefold(): [str(said) for said in ways] for phrase, ways in table.items()}
    found = "|".join(re.escape(phrase) for phrase in sorted(words, key=len, reverse=True))
    return words, re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)
