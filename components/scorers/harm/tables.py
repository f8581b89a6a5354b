"""Tables of errors and their severity, as ``conf/harm`` has them.

Levels are those of AHRQ's Harm Scale, Common Formats version 1.2: death, severe, moderate, mild and no harm (Agency for
Healthcare Research and Quality; its reliability: Williams et al. 2015, J Patient Saf 11:52, kappa 0.47 to 0.58). It is
of any event of patient safety, where NCC MERP's index is of medication errors alone. A table says which level is the
worst that is plausible when somebody acts on such an answer; the scale itself is of harm that has happened.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Protocol, get_args, runtime_checkable

from annotated_types import Gt

from components.core.errors import ConfigError, check_pattern

Severity = Literal["no_harm", "mild_harm", "moderate_harm", "severe_harm", "death"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)  # from the best to the worst
Kind = Literal["missing", "empty", "number", "text"]
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@runtime_checkable
class Drugs(Protocol):
    """Drugs by their names."""

    def known_as(self, name: str) -> str | None:
        """The drug that has this name or synonym, in any case; None for none."""


@dataclass(frozen=True)
class ErrorType:
    """An error, of which all that is set must hold. ``question``, ``tool``: regular expressions that the last sentence
    of the question has, and the name of a tool that was called. ``gold``, ``answer``: what these are. ``omits``: paths
    of the sample, of which the reference says the value and the answer does not. ``times``: the number nearest to the
    right one is so many times too large or too small; units that cannot be converted are not compared.
    ``other_patient``: calls name patients, and none of them has the id that the question asks about. ``unsupported``:
    no call returned any value of the answer. ``other_drug``: the right answer names a known drug, and the answer
    another one and not that. ``score``: another scorer found 1 by this name. Raises ConfigError."""

    severity: Severity
    why: str
    question: str = ""
    tool: str = ""
    gold: Sequence[Kind] = ()
    answer: Sequence[Kind] = ()
    omits: Sequence[str] = ()
    times: Annotated[float, Gt(1)] | None = None
    other_patient: bool = False
    unsupported: bool = False
    other_drug: bool = False
    score: str = ""

    def __post_init__(self) -> None:
        check_pattern("question", self.question)
        check_pattern("tool", self.tool)


@dataclass(frozen=True)
class Table:
    """Errors by name, of which the first that holds counts. It is for samples with ``metadata`` at all these dotted
    paths and a question whose last sentence is like ``question``. ``wrong``: which answers are looked at, those that
    the deciding score finds wrong or all (``answer``: the errors decide). ``patient``: how a question, or a call, names
    whom it asks about. ``asked``: remarks of steps in which agents keep what they asked a database, next to the
    arguments of calls. Raises ConfigError."""

    source: str
    errors: Mapping[str, ErrorType]
    metadata: Sequence[str] = ()
    question: str = ""
    wrong: Literal["score", "answer"] = "score"
    patient: str = ""
    asked: Sequence[str] = ()
    tolerance: Annotated[float, Gt(0)] = field(default=0.05)

    def __post_init__(self) -> None:
        check_pattern("question", self.question)
        check_pattern("patient", self.patient)
        if wrong := [name for name in self.errors if not _NAME.fullmatch(name)]:
            raise ConfigError(f"errors: found the name {wrong[0]!r}; small letters, digits and _ make one")
        if any(one.other_patient for one in self.errors.values()) and not self.patient:
            raise ConfigError("patient: is empty, and an error with other_patient needs it")
