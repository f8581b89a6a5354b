"""ReflecTool, optimisation: long-term memory and tool-wise experience from training tasks.

Source: Liao et al. 2024, arXiv 2410.17657, algorithm 1, and the published code: attempt, reflection against
the gold answer, second attempt; on success the task goes into the memory and the two attempts are compared
for lessons on each action, which are merged into what is known. Departures: an unreadable reply is asked for
again with another draw; an unfinished batch is merged too; an empty merge never erases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from annotated_types import Ge, Interval

from components.acting.attempt import Retries, Shown, Trial
from components.acting.tool_names import INNER, lasting_names, to_lasting
from components.core.concurrency import together
from components.core.errors import ConfigError
from components.core.learning import LEARNT, Practice, task_of
from components.core.protocols import Episode
from components.core.task_text import Chain, chain_text, gold_text, response_text, task_text
from components.core.traits import PromptSetName, StageTraits, agents_in
from components.core.types import Answer, Failure, Refusal, Sample
from components.prompts import load
from components.text.structured import array_in, lessons, object_in


@dataclass(frozen=True)
class Success:
    """A training task that was solved at the second attempt; ``names``: action that could be taken -> what it is
    known as."""

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
        made = await together(self._learnt(practice, part) for part in parts.values())
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
        tried = await together(self._learn(practice, sample) for sample in samples)
        successes = [one for one in tried if one is not None]
        files: dict[str, Any] = {f"long_term/example_{n}.json": _item(n, one) for n, one in enumerate(successes, 1)}
        known: dict[str, list[str]] = {}
        sources: list[dict[str, Any]] = []
        for start in range(0, len(successes), self.merge_every):
            batch = successes[start : start + self.merge_every]
            suggested = await together(self._suggest(practice, one) for one in batch)
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
        """What is known of every action that there are new lessons on: old and new as one list by the model, one after
        the other when no draw could be read."""
        fused: dict[str, list[str]] = {}

        async def fuse(line: Episode, name: str) -> list[str]:
            old = known.get(name, [])
            ask = load(self.prompts).user("merge", (), name=name, old=old, new=new[name])
            for _ in range(self.draws):
                if texts := lessons(array_in((await line.ask([ask], "reflect")).text)):
                    return texts
            return list(dict.fromkeys([*old, *new[name]]))

        async def solve(episode: Episode) -> Answer:
            texts = await together(fuse(episode.branch(f"merge/{name}"), name) for name in new)
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
