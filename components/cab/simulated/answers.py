"""What the simulated model knows of a task of ClinicalAgent Bench: its answer in words, and the tools that serve it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.cab.simulated.calculator import BUILT
from components.cab.tasks import TASKS
from components.core.types import Sample
from components.simulation.asked import Knowledge
from components.simulation.draws import Draws, Rates

FACTS = {"knowledge": 3, "trust": 4, "multimodal": 6, "data": 5, "numerical": 8}  # that an answer by heart takes
FACTS_READ = 2  # where the task's own text holds the answer, and on second thought
_BY_INPUT = (
    ("sql_database", ("SQLCoder", "DBManual")),
    ("upload_files", ("LongDocRAG",)),
    ("image", ("HuatuoGPT", "MiniCPM", "MedCaptioner")),
)
_BY_FORM = {"medcalc": ("Calculator", BUILT), "entities": ("EntityRecognizor",)}
_REFERENCES = ("Medrag", "UMLS", "GoogleSearch", "DrugBank")
_WRONG_WORDS = ("blurred", "the other side", "several", "unclear")  # none holds yes, no or a digit


def is_clinical(sample: Sample | None) -> bool:
    """Whether a sample is such a task."""
    return sample is not None and str(sample.metadata.get("task")) in TASKS


@dataclass(frozen=True)
class ClinicalKnowledge(Knowledge):
    """Knowledge of a task; its answer has the form that the task's scorer reads."""

    @property
    def form(self) -> str:
        """How the answer is scored."""
        return TASKS[self.sample.metadata["task"]].form

    @property
    def answer(self) -> Any:
        """The answer of its record."""
        target = self.sample.target
        return target.get("answer", "") if isinstance(target, Mapping) else target

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that serve the task, the best first; none where its own text holds the answer."""
        names: tuple[str, ...] = _BY_FORM.get(self.form, ())
        for kind, tools in _BY_INPUT:
            names += tools if kind in self.sample.problem.inputs else ()
        return names or (() if self.sample.problem.context else _REFERENCES)

    def by_heart(self, rates: Rates) -> float:
        """As often as all facts are known that it takes."""
        dimension = TASKS[self.sample.metadata["task"]].dimension
        return float(rates.competence ** (FACTS[dimension] if self.tools else FACTS_READ))

    def opinion(self, known: bool, draws: Draws, besides: str = "") -> str:
        """The answer in the form of its scorer."""
        target = self.sample.target
        if isinstance(target, str):
            return self.option(known, draws, self.option_in(besides))
        if not isinstance(target, Mapping):
            return str(target) if known else "not known"
        if self.form == "no_result":
            return "No result" if known else _wrong_count("", draws)
        if "accepted" in target:
            return str(_first(target["accepted"])) if known else draws.pick("wrong words", _WRONG_WORDS)
        return _keyed(self.form, self.answer, known, draws)

    def is_right(self, opinion: str) -> bool:
        """Whether an opinion is the key's, as the model sees it."""
        target = self.sample.target
        if isinstance(target, str):
            return super().is_right(opinion)
        text = self.option_in(opinion).strip().strip('".').casefold()
        if not isinstance(target, Mapping):
            return text == str(target).casefold()
        gold = target.get("answer", target.get("accepted", "No result"))
        if self.form == "entities":
            return all(name.casefold() in text for name in _names(gold))
        right = _first(gold).casefold()
        return text == right if self.form in ("medcalc", "no_result") else right in text


def _keyed(form: str, answer: Any, right: bool, draws: Draws) -> str:
    """An answer by the key of its record."""
    if form == "medcalc":
        return str(answer) if right else _off(str(answer))
    if form == "entities":
        names = _names(answer)
        return f"[{', '.join(names if right else names[: max(1, len(names) // 3)])}]"
    if form == "rouge1_recall":
        words = _first(answer).split()
        return " ".join(words if right else words[: len(words) // 3])
    if form == "contains":
        return str(answer) if right else draws.pick("wrong words", _WRONG_WORDS)
    return str(answer) if right else _wrong_count(str(answer), draws)


def _wrong_count(answer: str, draws: Draws) -> str:
    """A number that is not in the answer."""
    count = draws.pick("wrong count", range(1, 41))
    return str(count if str(count) not in answer else count + 50)


def _off(number: str) -> str:
    """Another number; a date or a duration is not known."""
    try:
        return f"{float(number) * 1.37 + 1:.2f}"
    except ValueError:
        return "not known"


def _first(answer: Any) -> str:
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return str(answer[0]) if answer else ""
    return str(answer)


def _names(answer: Any) -> list[str]:
    """The names of a list of entities."""
    listed = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else ()
    return [str(one["entity_name"]) for one in listed if isinstance(one, Mapping) and "entity_name" in one]
