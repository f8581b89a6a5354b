"""What is learnt from training tasks: ReflecTool's optimisation, few-shot demonstrations, and solved questions.

``Optimize``: Liao et al. 2024, arXiv 2410.17657, algorithm 1, and the published code: attempt, reflection against
the gold answer, second attempt; on success the task goes into the memory and the two attempts are compared
for lessons on each action, which are merged into what is known. Departures: an unreadable reply is asked for
again with another draw; an unfinished batch is merged too; an empty merge never erases.

``Collect``: the few-shot baselines of Tang et al. 2024 (MedAgents), arXiv 2311.10537, after Brown et al. 2020, arXiv
2005.14165, and Wei et al. 2022, arXiv 2201.11903. The rationales are the project's own.

``Solve`` collects questions that an agent solved itself, each shown those solved before it: the long-term memory of
Shi et al. 2024 (EHRAgent), arXiv 2401.07128. Departure: on training questions, not on those that are evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from annotated_types import Ge, Interval

from components.acting.attempt import Retries, Shown, Trial
from components.acting.examples import FILE, Example, rationale_of, rationales
from components.acting.solved import FILE as SOLVED_FILE
from components.acting.solved import SolvedQuestions, lessons_in, own_seeds
from components.acting.tool_names import lasting_names, to_lasting
from components.core.concurrency import gather_all
from components.core.errors import ConfigError
from components.core.learning import LEARNT, Practice, task_of
from components.core.protocols import Episode
from components.core.task_text import INNER, Chain, chain_text, gold_answer, gold_text, response_text, task_text
from components.core.traits import PromptSetName, StageTraits, agents_in
from components.core.types import Answer, Failure, Refusal, Sample
from components.prompts import load
from components.text.structured import array_in, lessons, object_in


@dataclass(frozen=True)
class Success:
    """A training task that was solved at the second attempt; ``names``: possible action -> what it is known as."""

    sample: Sample
    first: Sequence[Chain]
    second: Chain
    score: float
    names: Mapping[str, str]


@dataclass(frozen=True)
class Optimize:
    """Writes ``long_term/example_N.json``, ``experience/step-N.json`` and ``provenance.json``; ``per`` task: the first
    two below ``tasks/<task>`` for each task, of which nothing is learnt from another's samples, and ``tasks.json``.

    ``reflect_rounds``: reflections and new attempts per task. A task is learnt from when its score is above
    ``threshold`` (0 to 1). ``merge_every``: successes per merge (the article merges after each, the code after
    ten); N counts successes. ``draws``: how often an unreadable reply is asked for.
    """

    traits: ClassVar[StageTraits] = StageTraits(ignores=("shots",))

    reflect_rounds: Annotated[int, Ge(1)] = 1
    merge_every: Annotated[int, Ge(1)] = 1
    threshold: Annotated[float, Interval(ge=0, le=1)] = 0.7
    draws: Annotated[int, Ge(1)] = 5
    per: Literal["task", "all"] = "task"
    prompts: PromptSetName = "optimize"

    async def run(self, practice: Practice, samples: Sequence[Sample]) -> Mapping[str, Any]:
        """Learn of all samples, or of each task's. Raises ConfigError, ModelError."""
        parts: dict[str, list[Sample]] = {}
        for sample in samples:
            parts.setdefault(task_of(sample) if self.per == "task" else "", []).append(sample)
        made = await gather_all(self._learnt(practice, part) for part in parts.values())
        files: dict[str, Any] = {}
        counts: dict[str, Mapping[str, int]] = {}
        provenance: list[Any] = []
        for (task, part), (found, sources) in zip(parts.items(), made, strict=True):
            files |= {f"tasks/{quote(task, safe='')}/{name}" if task else name: file for name, file in found.items()}
            provenance += [{"task": task, **one} for one in sources] if task else sources
            if task:
                counts[task] = {"tried": len(part), "solved": len(sources)}
        return files | ({LEARNT: counts} if counts else {}) | {"provenance.json": provenance}

    async def _learnt(self, practice: Practice, samples: Sequence[Sample]) -> tuple[dict[str, Any], list[Any]]:
        """Try all samples at once, then merge in their order: files, and which sample gave which lessons."""
        tried = await gather_all(self._learn(practice, sample) for sample in samples)
        successes = [one for one in tried if one is not None]
        files: dict[str, Any] = {f"long_term/example_{n}.json": _item(n, one) for n, one in enumerate(successes, 1)}
        known: dict[str, list[str]] = {}
        sources: list[dict[str, Any]] = []
        for start in range(0, len(successes), self.merge_every):
            batch = successes[start : start + self.merge_every]
            suggested = await gather_all(self._suggest(practice, one) for one in batch)
            new: dict[str, list[str]] = {}
            for success, found in zip(batch, suggested, strict=True):
                sources.append({"id": success.sample.problem.id, "lessons": found})
                for name, texts in found.items():
                    new.setdefault(name, []).extend(texts)
            if new:
                known |= await self._merged(practice, batch[0].sample, known, new)
            files[f"experience/step-{start + len(batch)}.json"] = dict(known)
        return files, sources

    async def _learn(self, practice: Practice, sample: Sample) -> Success | None:
        """Attempt, reflect, attempt again; None when that was not enough."""
        first, last = list[Chain](), list[Trial]()
        own, *held = agents_in(practice.agent)
        agent = next((one for one in (*held, own) if isinstance(one, Retries)), None)
        if agent is None:
            name = type(held[0] if held else own).__name__
            raise ConfigError(f"{name} cannot try a task again, so nothing can be learnt with it")

        async def solve(episode: Episode) -> Answer | Refusal | Failure:
            last.append(await agent.attempt(episode, Shown()))
            unable = isinstance(last[0].outcome, Failure) and last[0].outcome.label == "unsupported_input"
            for n in range(0 if unable else self.reflect_rounds):
                chain = last[-1].chain
                values = {"task": task_text(sample.problem), "chain": chain_text(chain), "gold": gold_text(sample)}
                thought = await episode.ask([load(self.prompts).user("reflect", (), **values)], "reflect")
                first.append((*chain, (response_text("Reflection", thought.text), "OK")))
                line = episode.branch(f"trial/{n + 2}", tools="fresh")
                last.append(await agent.attempt(line, Shown(previous=tuple(first))))
            return last[-1].outcome

        result = await practice.run_sample(sample, solve)
        if result.score is None or result.score <= self.threshold:
            return None
        names = {**dict.fromkeys(INNER), **lasting_names(result.trajectory.offered)}
        return Success(sample, first, last[-1].chain, result.score, {k: v or k for k, v in names.items()})

    async def _suggest(self, practice: Practice, one: Success) -> dict[str, list[str]]:
        """Lessons on each action from comparing the attempts; empty when no draw could be read."""
        values = {"task": task_text(one.sample.problem), "gold": gold_text(one.sample)}
        before, after = "\n".join(chain_text(chain) for chain in one.first), chain_text(one.second)
        ask = load(self.prompts).user("suggest", (), before=before, after=after, **values)
        found: dict[str, list[str]] = {}

        async def solve(episode: Episode) -> Answer:
            for _ in range(self.draws):
                suggested = object_in((await episode.ask([ask], "reflect")).text)
                if suggested is not None:
                    for name, value in suggested.items():
                        if name in one.names and (texts := lessons(value)):
                            found.setdefault(one.names[name], []).extend(texts)
                    break
            return Answer("")

        await practice.run_sample(one.sample, solve)
        return found

    async def _merged(
        self, practice: Practice, sample: Sample, known: Mapping[str, list[str]], new: Mapping[str, list[str]]
    ) -> dict[str, list[str]]:
        """Old and new lessons on each action as one list by the model; one after the other when no draw was read."""
        fused: dict[str, list[str]] = {}

        async def fuse(line: Episode, name: str) -> list[str]:
            old = known.get(name, [])
            ask = load(self.prompts).user("merge", (), name=name, old=old, new=new[name])
            for _ in range(self.draws):
                if texts := lessons(array_in((await line.ask([ask], "reflect")).text)):
                    return texts
            return list(dict.fromkeys([*old, *new[name]]))

        async def solve(episode: Episode) -> Answer:
            texts = await gather_all(fuse(episode.branch(f"merge/{name}"), name) for name in new)
            fused.update(zip(new, texts, strict=True))
            return Answer("")

        await practice.run_sample(sample, solve)
        return fused


def _item(n: int, one: Success) -> dict[str, Any]:
    """An item of the long-term memory, in the layout of the published code."""
    problem = one.sample.problem
    task = {
        "task_id": problem.id,
        "dataset": one.sample.metadata.get("task"),
        "inputs": problem.context or None,
        "instruction": problem.question,
        "multimodal_inputs": dict(problem.inputs),
        "prev_act_obs": [[list(step) for step in to_lasting(chain, one.names)] for chain in one.first],
    }
    chain = [list(step) for step in to_lasting(one.second, one.names)]
    return {"id": f"example_{n}", "contents": task_text(problem), "task": task, "act_obs": chain, "score": one.score}


@dataclass(frozen=True)
class Collect:
    """Writes ``examples.json``: at most ``n`` of each task and number of options, asking no model.

    Those for which the prompt set has a rationale come first, then those that the dataset explains; alike ones in the
    order of the SHA-256 of their ids, a draw that any machine repeats. What shows an image is left out.
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
