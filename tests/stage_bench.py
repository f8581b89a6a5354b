"""The runner's bench over scripted replies, for separate stages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.types import Answer, Problem, Sample
from components.prompts import load
from runner.episode.budget import Budget
from runner.experiment.experiment import Experiment, Launch
from runner.learning.stage_context import StageContext
from tests.parts import Rows, Speaker, door, parts

ASK, CAREFUL = "Answer this: {{ question }}", "Be careful. Answer this: {{ question }}"


@dataclass(frozen=True)
class Asking:
    """Asks the question in the words of a prompt set."""

    prompts: str

    async def solve(self, episode: Any) -> Answer:
        asked = load(self.prompts).user("ask", question=episode.problem.question)
        return Answer((await episode.ask([asked], "answer")).text)


@dataclass(frozen=True)
class Halves(Rows):
    """Eight questions of four records to learn from, next to the six that are evaluated."""

    splits: tuple[str, ...] = ("test", "train")
    shared: bool = False  # one record is in both

    def load(self, split: str) -> list[Sample]:
        if split == "test":
            return super().load(split)
        names = [f"t{i // 2}" for i in range(8)]
        names[-2:] = ["p0", "p0"] if self.shared else names[-2:]
        return [Sample(Problem(f"t/{i}", f"lesson {i}"), f"right {i}", {}, name) for i, name in enumerate(names)]


@dataclass
class Class:
    """Answers correctly if its prompt asks it to be careful; ``critique`` and ``rewrites`` are what a critic replies."""

    critique: str = "- In ask: say that care is needed"
    rewrites: list[str] = field(default_factory=lambda: [f"<rewritten>\n{CAREFUL}\n</rewritten>"])
    asked: list[Any] = field(default_factory=list)

    def say(self, request: Any) -> str:
        self.asked.append(request)
        text = request.messages[-1].text
        if "Write your critique" in text:
            return self.critique
        if "<rewritten>" in text:
            return self.rewrites.pop(0) if len(self.rewrites) > 1 else self.rewrites[0]
        word = text.rpartition(" ")[2]
        kind = "answer" if "question" in text else "right"
        return f"{kind} {word}" if "careful" in text else "?"


def base_set(folder: Path, **templates: str) -> str:
    """Write a custom prompt set; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ({"ask": ASK, "branch": "{% if question %}yes{% endif %}"} | templates).items():
        (folder / f"{name}.jinja").write_text(text)
    return str(folder)


def bench(
    say: Callable[[Any], str], prompts: str, dataset: Any = None, agent: Any = None, journal: Any = None, **cfg: Any
) -> StageContext:
    """The bench of an experiment whose only model gives these replies."""
    dataset, model = dataset or Halves(), Speaker(say)
    whole = {"dataset": {"_target_": repr(dataset)}, "run": {}, "budget": {"sample": {}}, "stage": {}, **cfg}
    experiment = Experiment(
        "n", 0, 1, parts(agent or Asking(prompts)), {"main": model}, dataset, dataset.load("test"), Budget(), whole,
        {"base": load(prompts).digest}, {}, Launch(),
    )  # fmt: skip
    return StageContext(experiment, door(model, journal))
