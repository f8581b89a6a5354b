"""What the simulated model knows of a task of ClinicalAgent Bench: its answer in words, and the tools that serve it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from components.cab.tasks import TASKS
from components.core.messages import Message
from components.prompts.recognition import rendered_from
from components.simulation.asked import Knowledge
from components.simulation.draws import Draws, Rates
from components.simulation.history import Done, History
from components.text.structured import read_yaml

BUILD, BUILT = "BuildTool", "Arithmetic"
_NAME = re.compile(r"^Name: (\w+)$", re.MULTILINE)
_BUILT = read_yaml(Path(__file__).parent / "built_calculator.yaml")
SPECIFICATION: Mapping[str, Any] = _BUILT["specification"]
_SLIP = ("ast.Mult: operator.mul", "ast.Mult: operator.add")


def code(messages: Sequence[Message], rates: Rates, draws: Draws) -> str:
    """The code of the one tool that the model can write; a slip is mostly fixed when the reason is given."""
    named = _NAME.findall(messages[1].text) if len(messages) > 1 else []
    if named != [BUILT]:
        return "I cannot write this."
    tried = rendered_from(messages[-1].text, "building/repair")
    right = str(_BUILT["code"]).replace("NAME", BUILT)
    knows = rates.competence ** (0.5 if tried else 1.0)
    return right if draws.happens("writes it right", knows) else right.replace(*_SLIP)


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
        answer = self.answer
        if self.form == "entities":
            names = _names(answer)
            return f"[{', '.join(names if known else names[: max(1, len(names) // 3)])}]"
        if self.form == "rouge1_recall":
            words = _first(answer).split()
            return " ".join(words if known else words[: len(words) // 3])
        if known:
            return str(answer)
        if self.form == "contains":
            return draws.pick("wrong words", _WRONG_WORDS)
        return _another_number(str(answer)) if self.form == "medcalc" else _wrong_count(str(answer), draws)

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


def _wrong_count(answer: str, draws: Draws) -> str:
    count = draws.pick("wrong count", range(1, 41))
    return str(count if str(count) not in answer else count + 50)


def _another_number(answer: str) -> str:
    """Another number; a date or a duration is not known."""
    try:
        return f"{float(answer) * 1.37 + 1:.2f}"
    except ValueError:
        return "not known"


def _first(answer: Any) -> str:
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return str(answer[0]) if answer else ""
    return str(answer)


def _names(answer: Any) -> list[str]:
    listed = answer if isinstance(answer, Sequence) and not isinstance(answer, str) else ()
    return [str(one["entity_name"]) for one in listed if isinstance(one, Mapping) and "entity_name" in one]


USES, USES_TAUGHT = 0.65, 0.97  # goes to a tool
ASKS, ASKS_TAUGHT = 0.5, 0.9  # asks it in full
PLANS = 0.3  # writes a plan first
MAX_CALLS = 3
INNER = ("Plan", "Think", "Finish")
Extent = Literal["few", "half", "all"]  # of the words that a call should say
_READ_OFF = ("rows", "values", "no_result")  # answered with what the database said
_UNSEEN = "Metadata of the image"  # no model has looked at it
_DATE = re.compile(r"\d\d?/\d\d?/\d{4}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def next_step(knowledge: ClinicalKnowledge, history: History, rates: Rates, draws: Draws) -> Done:
    """A call of the fitting tool until it was asked in full, then the answer."""
    tool = fitting(knowledge, history)
    if tool is None and misses_calculator(knowledge, history) and draws.happens("uses a tool", USES):
        return Done(BUILD, SPECIFICATION)
    calls = sum(one.name not in (*INNER, BUILD) for one in history.done)
    if tool is None or calls >= MAX_CALLS or any(is_full(knowledge, one) for one in history.done):
        return finish(knowledge, history, rates, draws)
    taught = tool in history.shown or "Reflection" in history.shown
    if not history.done and not taught and "Plan" in history.offered and draws.happens("plan", PLANS):
        return Done("Plan", {"response": f"Ask {tool}, then answer."})
    uses = USES_TAUGHT if taught else USES
    asked_for = tool == BUILT and calls == 0
    if not asked_for and not draws.happens("uses a tool", uses if calls == 0 else uses / 2):
        return finish(knowledge, history, rates, draws)
    others = [name for name in history.offered if name != tool and name not in INNER]
    if others and draws.happens("wrong tool", rates.wrong_tool):
        tool = draws.pick("which tool", others)
    in_full = draws.happens("asks in full", ASKS_TAUGHT if taught else ASKS)
    return call(knowledge, history, tool, "all" if in_full else "few")


def finish(knowledge: ClinicalKnowledge, history: History, rates: Rates, draws: Draws) -> Done:
    """The answer, right as often as what was found allows."""
    observations = [one.saw or "" for one in history.done if is_full(knowledge, one)]
    if knowledge.form in _READ_OFF:
        rows = [saw.strip() for saw in observations if saw.strip() == "null" or saw.lstrip().startswith("[")]
        if rows:
            return Done("Finish", {"response": "No result" if rows[-1] in ("[]", "null") else rows[-1]})
        observations = []
    observations = [saw for saw in observations if not saw.startswith(_UNSEEN)]
    right = draws.happens("competence", rates.competence if observations else knowledge.by_heart(rates))
    return Done("Finish", {"response": knowledge.opinion(right, draws)})


def fitting(knowledge: ClinicalKnowledge, history: History) -> str | None:
    """The offered tool that fits the task's inputs or the form of its answer."""
    return next((name for name in knowledge.tools if name in history.offered), None)


def misses_calculator(knowledge: ClinicalKnowledge, history: History) -> bool:
    """Whether a calculator would serve, can be asked for, was not yet, and arithmetic alone is enough."""
    able = BUILD in history.offered and all(one.name != BUILD for one in history.done)
    return able and "Calculator" in knowledge.tools and not _DATE.search(str(knowledge.answer))


def call(knowledge: ClinicalKnowledge, history: History, tool: str, extent: Extent) -> Done:
    """A call with parameters that say all, or with some that are too short to help."""

    def value(name: str) -> str:
        problem = knowledge.sample.problem
        kind = "upload_files" if name == "path" else name
        if kind in ("image", "sql_database", "upload_files"):
            return problem.inputs.get(kind, "none")
        if name == "expression":
            return {"few": "the formula", "half": "the formula of the question", "all": _formula(knowledge)}[extent]
        text = problem.context if tool == "EntityRecognizor" and problem.context else problem.question
        words = text.split("\n")[0].split()
        return text if extent == "all" else " ".join(words[: 3 if extent == "few" else max(4, len(words) // 2)])

    return Done(tool, {name: value(name) for name in history.offered[tool]})


def is_full(knowledge: ClinicalKnowledge, done: Done) -> bool:
    """Whether a call is of a tool that serves the task and passes all that the task holds."""
    if done.name not in knowledge.tools:
        return False
    if done.name == "MedCaptioner":
        return True
    wanted = knowledge.sample.problem.question.split("\n")[0]
    if done.name in ("Calculator", BUILT):
        wanted = _formula(knowledge)
    if done.name == "EntityRecognizor":
        wanted = knowledge.sample.problem.context.split("\n")[0] or wanted
    texts = (wanted, " ".join(map(str, done.arguments.values())))
    part, whole = ("".join(c for c in text.lower() if c.isalnum()) for text in texts)  # in whatever spacing and case
    return part in whole


def _formula(knowledge: ClinicalKnowledge) -> str:
    """An expression whose value is the answer: a number, a date, or weeks and days in days."""
    answer = str(knowledge.answer)
    if day := _DATE.search(answer):
        return f"add_days('{day[0]}', 0)"
    numbers = _NUMBER.findall(answer) or ["0"]
    return f"7 * {numbers[0]} + {numbers[1]}" if len(numbers) == 2 else f"{numbers[0]} * 1"
