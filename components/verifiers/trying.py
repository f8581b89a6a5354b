"""What the verifiers of ReflecTool have in common: trying a candidate, and the experience with its tool."""

from collections.abc import Iterable, Mapping, Sequence

from components.acting.tool_names import lasting_names
from components.core.protocols import Episode
from components.core.task_text import names_of
from components.core.types import Action


async def tried(episode: Episode, action: Action) -> str | None:
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
    """What was learnt about the tools that actions name; empty without memory."""
    names = dict.fromkeys(name for action in actions for name in names_of(action))
    memory, lasting = episode.memory, lasting_names(tool.spec for tool in episode.offer.tools.values())
    return {name: () if memory is None else memory.experience(lasting.get(name, name)) for name in names}
