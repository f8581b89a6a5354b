"""A critic that reads failed attempts and rewrites templates; what it wrote is refused unless it is plain.

Source: the prompt back-propagation of Zheng et al. 2024 (RadABench), arXiv 2412.09529: a strong model's feedback on
failed question pairs. The article does not print the feedback's prompt; this one is ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.core.concurrency import gather_all
from components.core.errors import ConfigError
from components.core.learning import Solve, StageContext
from components.core.protocols import Episode
from components.core.task_text import gold_text, task_text
from components.core.types import CONTEXT_LENGTH, Answer, EpisodeResult, Sample
from components.core.usage import Purposes, sum_usages, usage_of
from components.prompts import load
from components.prompts.plain import visible
from components.stages.prompt_folder import Rules, Version

ROLE = "critic"
_OPENS, _CLOSES = "<rewritten>", "</rewritten>"
_REPLY, _STEPS, _CRITIQUE = 600, 12, 20_000  # characters of a reply, steps of an attempt, characters of a critique


@dataclass(frozen=True)
class Proposal:
    """A critique, the version with what the critic wrote, what was refused of that and why, and what its calls took."""

    critique: str
    version: Version
    refused: Mapping[str, str]
    usage: Purposes


@dataclass(frozen=True)
class Critic:
    """Asks the role ``critic``. ``draws``: how often a template is asked for that cannot be read or is refused."""

    context: StageContext
    rules: Rules
    prompts: str
    draws: int

    async def propose(
        self, place: str, version: Version, failures: Sequence[str], failed: int, played: int
    ) -> Proposal:
        """Critique a version by its failures, of ``failed`` among ``played``, and rewrite its templates."""
        prompts, texts = load(self.prompts), self.rules.texts(version)
        critique, fresh, refused = "", dict[str, str](), dict[str, str]()

        async def criticise(episode: Episode) -> Answer:
            nonlocal critique
            values = {"failures": list(failures), "failed": failed, "played": played}
            shown = prompts.user("critique", (), templates=list(texts.items()), **values)
            reply = await episode.ask([shown], "reflect", role=ROLE)
            critique = visible("\n".join(reply.text[:_CRITIQUE].strip().splitlines()))
            return Answer(critique)

        async def rewrite(name: str) -> Purposes:
            names, needs = self.rules.of[name]
            given = [f"{{{{ {one} }}}}" for one in names]
            values: dict[str, Any] = {"text": texts[name], "slots": given, "needs": needs}

            async def write(episode: Episode) -> Answer:
                for _ in range(self.draws):
                    values["refused"] = refused.pop(name, None)
                    shown = prompts.user("rewrite", (), name=name, critique=critique, **values)
                    written = text_between_tags((await episode.ask([shown], "build", role=ROLE)).text)
                    if written is None:
                        refused[name] = f"nothing stands between {_OPENS} and {_CLOSES}"
                    elif (flaw := self.rules.flaw(name, written)) is not None:
                        refused[name] = flaw
                    else:
                        fresh[name] = written
                        break
                return Answer("")

            return await self._talk(f"{place}/{name}", write)

        usages = [await self._talk(f"{place}/critique", criticise)]
        usages += await gather_all(rewrite(name) for name in texts)
        changed = {name: text for name, text in fresh.items() if text.strip() != texts[name].strip()}
        return Proposal(
            critique,
            self.rules.changed(version, changed) if changed else version,
            {name: refused[name] for name in texts if name in refused},
            sum_usages(usages),
        )

    async def _talk(self, name: str, solve: Solve) -> Purposes:
        """What it took. Raises ConfigError when the budget of a sample does not reach."""
        ended = await self.context.talk(name, solve)
        if ended.stop != "answered":
            wanted = "a lower stage.failures_shown" if ended.failure == CONTEXT_LENGTH else "a larger budget.sample"
            raise ConfigError(f"{name}: {ended.error or ended.stop}: the critic needs {wanted}")
        return usage_of(ended)["purposes"]


def text_between_tags(reply: str) -> str | None:
    """What is between the tags, whatever ends its lines; None where a tag is missing."""
    _, opens, rest = reply.partition(_OPENS)
    text, closes, _ = rest.partition(_CLOSES)
    return "\n".join(text.splitlines()) if opens and closes else None


def failure_text(sample: Sample, played: EpisodeResult) -> str:
    """A failed attempt as a critic sees it: task, what was written, how it ended, and what would have been right."""
    lines = [task_text(sample.problem), "", "What the agent wrote:"]
    for step in [step for step in played.trajectory.steps if step.committed][:_STEPS]:
        text = step.reply.text.strip() or "; ".join(f"{call.name}({call.arguments})" for call in step.reply.tool_calls)
        lines.append(f"[{step.purpose}] {text[:_REPLY]}")
        lines += [f"[error] {one.error}: {one.observation.text[:_REPLY]}" for one in step.observed if one.error]
    ended = played.trajectory
    why = f" ({ended.failure})" if ended.failure else ""
    lines += ["", f"It ended: {ended.stop}{why}{': ' + ended.error[:_REPLY] if ended.error else ''}"]
    if steps := sample.gold_steps:
        lines.append(f"The right steps: {steps}")
    facts = ended.facts
    if facts.get("kind") == "insufficient" and "accepted" in facts:
        category = {"category": " or ".join(facts["accepted"])}
        grounds = category | {name: facts.get(name) for name in ("anatomy", "modality", "ability")}
        refusal = "; ".join(f"{name}: {value}" for name, value in grounds.items() if value)
        lines.append(f"The right end: a refusal, since no tool that is offered can do one of these steps ({refusal})")
    else:
        lines.append(f"The right answer: {gold_text(sample)[:_REPLY]}")
    return "\n".join(lines)
