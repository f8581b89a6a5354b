"""The project's written medical facts, from which sample data of tools and the mini benchmark are made.

One table for all of them, so that a question's answer can be found through the tools. General textbook
knowledge in own words (``data_builders/tools/facts``); not for clinical use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from components.core.errors import ConfigError
from components.text.structured import read_yaml

FOLDER = Path(__file__).parent / "tools" / "facts"
TERM_KINDS = ("anatomy", "findings", "procedures", "tests")
# First words that keep their capital inside a sentence, beside abbreviations.
_CAPITAL = {
    "Addison", "Addison-Biermer", "Alzheimer", "Basedow", "Bechterew", "Borrelia", "C.", "Clostridioides", "Crohn",
    "Dix-Hallpike", "Epley", "Graves", "Guillain-Barré", "Kayser-Fleischer", "Lyme", "Murphy", "Parkinson", "Wilson",
}  # fmt: skip


@dataclass(frozen=True)
class Drug:
    """``acts`` is a predicate, ``use`` a noun phrase, ``care`` sentences; ``forms`` are "form | route | strength"."""

    name: str
    group: str
    also: Sequence[str]
    acts: str
    use: str
    harm: Sequence[str]
    care: str
    forms: Sequence[str]
    state: Literal["solid", "liquid"] = "solid"


@dataclass(frozen=True)
class Disease:
    """``meaning`` and ``cause`` are noun phrases; site, findings, test, drugs and procedure are names of the tables."""

    name: str
    system: str
    also: Sequence[str]
    meaning: str
    cause: str
    site: str
    findings: Sequence[str]
    test: str
    shows: str
    drugs: Sequence[str]
    care: str
    note: str
    procedure: str = ""


@dataclass(frozen=True)
class Term:
    """A name with its definition: a body part, a finding, a procedure or a test."""

    name: str
    also: Sequence[str]
    kind: str
    definition: str


@dataclass(frozen=True)
class Summary:
    """What research has found on a question: yes, no or maybe, and why."""

    about: str
    question: str
    verdict: Literal["yes", "no", "maybe"]
    text: str


@dataclass(frozen=True)
class Facts:
    """All tables, each by name."""

    drugs: Mapping[str, Drug]
    diseases: Mapping[str, Disease]
    terms: Mapping[str, Term]
    summaries: Mapping[str, Summary] = field(default_factory=dict)

    def treated(self, drug: str) -> list[str]:
        """The diseases that a drug treats."""
        return [disease.name for disease in self.diseases.values() if drug in disease.drugs]


@cache
def load_facts(folder: Path = FOLDER) -> Facts:
    """Read the tables. Raises ConfigError where a disease names what no table has."""
    tables = {name: read_yaml(folder / f"{name}.yaml") for name in ("drugs", "diseases", "terms", "evidence")}
    facts = Facts(
        {row["name"]: Drug(**row) for row in tables["drugs"]},
        {row["name"]: Disease(**row) for row in tables["diseases"]},
        {term.name: term for kind in TERM_KINDS for term in _terms(kind, tables["terms"][kind])},
        {row["about"]: Summary(**row) for row in tables["evidence"]},
    )
    for disease in facts.diseases.values():
        _check(disease, facts)
    return facts


def inline(name: str) -> str:
    """A name as it stands inside a sentence: small first letter, but for proper names and abbreviations."""
    first = name.split()[0]
    keeps = first in _CAPITAL or any(letter.isupper() or letter.isdigit() for letter in first[1:3])
    return name if keeps else name[0].lower() + name[1:]


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names joined as in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def _terms(kind: str, table: Mapping[str, str]) -> list[Term]:
    named = [(key.split(" | "), definition) for key, definition in table.items()]
    return [Term(names[0], names[1:], kind, definition) for names, definition in named]


def _check(disease: Disease, facts: Facts) -> None:
    terms = [disease.site, *disease.findings, disease.test, *([disease.procedure] if disease.procedure else [])]
    lost = [name for name in terms if name not in facts.terms] + [n for n in disease.drugs if n not in facts.drugs]
    if lost:
        raise ConfigError(f"disease {disease.name!r} names {lost}: write them into drugs.yaml or terms.yaml")
