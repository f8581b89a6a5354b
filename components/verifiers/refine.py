"""ReflecTool's iterative refinement of a proposal.

Source: Liao et al. 2024 (ReflecTool), arXiv 2410.17657, §4.3, equations 7 and 8 (n refinements, all versions shown),
and the published code (n versions in all, the latest shown). Departures: a rewriting that cannot be read leaves the
version before it, and ends the refinement.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from components.acting.tool_names import lasting_names
from components.core.messages import Message, continued
from components.core.protocols import Episode, Propose
from components.core.task_text import action_text, names_of
from components.core.traits import PromptSetName, VerifierTraits
from components.core.types import Action, Verdict
from components.prompts import load


async def result_of(episode: Episode, action: Action) -> str | None:
    """What an action would give; None when it cannot be tried. A tried answer does not end the task."""
    if action.error is not None:
        return f"The action could not be read: {action.error_text}."
    if action.answer is not None:
        return action.answer
    if action.refusal is not None:
        return "The task would end with this refusal."
    seen = await episode.try_(action)
    return None if seen is None else "\n".join(one.text for one in seen)


def guide(episode: Episode, actions: Iterable[Action]) -> Mapping[str, Sequence[str]]:
    """The lessons about the tools that actions name; empty without a memory."""
    names = dict.fromkeys(name for action in actions for name in names_of(action))
    memory, lasting = episode.memory, lasting_names(tool.spec for tool in episode.offer.tools.values())
    return {name: () if memory is None else memory.experience(lasting.get(name, name)) for name in names}


@dataclass(frozen=True)
class Refine:
    """At most ``n`` versions (``counting`` total) or ``n`` refinements (extra); one call each.

    ``history``: whether a refinement is shown the latest version or all. ``try_actions``: whether it is shown
    what the version would give. ``change_type``: whether it may name another tool. ``curve`` changes nothing:
    what a smaller n would have chosen is an earlier version, which is recorded anyway.
    """

    n: Annotated[int, Interval(ge=1, le=64)] = 2
    counting: Literal["total", "extra"] = "extra"
    history: Literal["latest", "all"] = "all"
    try_actions: bool = True
    change_type: Literal["accept", "reject"] = "accept"
    curve: bool = False
    prompts: PromptSetName = "verify"
    traits = VerifierTraits(reads_lessons=True)

    async def choose(self, messages: Sequence[Message], propose: Propose, episode: Episode) -> Action:
        """The last version; stops early when one repeats the version before it."""
        versions, seen = [await propose()], list[str | None]()
        rounds, why = self.n - (self.counting == "total"), "the limit is reached"
        for _ in range(rounds):
            seen.append(await result_of(episode, versions[-1]) if self.try_actions else None)
            shown = slice(None) if self.history == "all" else slice(-1, None)
            pairs = [(action_text(one), saw) for one, saw in zip(versions, seen, strict=True)]
            lessons = guide(episode, versions[shown])
            ask = load(self.prompts).user("refine", guide=lessons, versions=pairs[shown])
            better = await episode.suggest(continued(messages, ask))
            if action_text(better) == action_text(versions[-1]):
                why = "nothing changed"
            elif better.error is not None:
                why = "the refinement could not be read"
            elif self.change_type == "reject" and names_of(better) != names_of(versions[-1]):
                why = "the refinement named another action"
            else:
                versions.append(better)
                continue
            break
        first = rounds + 1 - self.n  # 0 where n counts versions, 1 where it counts refinements
        picks = {v - first: min(v, len(versions)) for v in range(1, rounds + 2)}
        episode.note(versions[-1], Verdict("refine", "version", len(versions), rounds + 1, why, picks))
        return versions[-1]
