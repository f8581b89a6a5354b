"""Few-shot demonstrations from training samples: a few of each task, with a rationale where there is one.

Source: the few-shot baselines of Tang et al. 2024 (MedAgents), arXiv 2311.10537, after Brown et al. 2020, arXiv
2005.14165, and Wei et al. 2022, arXiv 2201.11903. The rationales are the project's own.

``Solve`` collects questions that an agent solved itself, each shown those solved before it: the long-term memory of
Shi et al. 2024 (EHRAgent), arXiv 2401.07128. Departure: on training questions, not on those that are evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Annotated, Any

from annotated_types import Ge

from components.acting.examples import FILE, Example, rationale_of, rationales
from components.acting.solved import FILE as SOLVED_FILE
from components.acting.solved import SolvedQuestions, lessons_in, own_seeds
from components.core.learning import Practice, task_of
from components.core.task_text import gold_answer
from components.core.traits import PromptSetName
from components.core.types import Sample


@dataclass(frozen=True)
class Collect:
    """Writes ``examples.json``: at most ``n`` of each task and number of options, asking no model.

    Those for which the prompt set has a rationale come first, then those that the dataset explains; alike ones in the
    order of the SHA-256 of their ids, which is a draw that any machine repeats. What shows an image is left out, for
    a text cannot show it.
    """

    n: Annotated[int, Ge(1)] = 5
    prompts: PromptSetName = "few_shot"

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """Collect. Raises ConfigError for a prompt set without rationales."""
        known = rationales(self.prompts)
        groups: dict[tuple[str, int], list[Example]] = {}
        for sample in (one for one in samples if not one.problem.images):
            problem, text = sample.problem, sample.metadata.get("explanation")
            explained = text.strip() or None if isinstance(text, str) else None
            task = str(sample.metadata.get("task") or task_of(sample))
            why = rationale_of(problem.question, known) or explained
            question, answer = problem.question.strip(), gold_answer(sample)
            one = Example(problem.id, question, answer, dict(problem.choices), problem.context, why, task)
            groups.setdefault((task, len(one.choices)), []).append(one)

        def order(one: Example) -> tuple[bool, bool, str]:
            ours = rationale_of(one.question, known) is not None
            return not ours, one.rationale is None, sha256(one.id.encode()).hexdigest()

        return {FILE: [asdict(one) for group in groups.values() for one in sorted(group, key=order)[: self.n]]}


@dataclass(frozen=True)
class Solve:
    """Writes ``solved.json``: what the agent solved rightly; it begins with the first ``shots`` demonstrations."""

    shots: Annotated[int, Ge(0)] = 4
    prompts: PromptSetName = "ehr_demonstrations"

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """Solve, in the order of the samples. Raises ConfigError for a prompt set without demonstrations."""
        memory = SolvedQuestions("", own_seeds(self.prompts, self.shots), "gold")
        learnt: list[Mapping[str, Any]] = []
        for sample in samples:
            memory.hold(learnt)
            result = await practice.run_sample(sample, practice.agent.solve, memory)
            learnt += lessons_in(result.trajectory)
        memory.hold(learnt)
        return {SOLVED_FILE: [asdict(one) for one in memory.grown]}
