"""An episode that one agent begins and another completes: the second gets the problem, the tools in their current
state, and the actions of the first with their observations."""

from dataclasses import dataclass, replace

from components.core.protocols import Agent
from components.core.protocols import Episode as AnyEpisode
from components.core.traits import Requirements, declared
from components.core.types import Answer, Failure, Refusal, Turn
from runner.episode.episode import Episode
from runner.episode.prefix import HandOver, Prefix
from runner.episode.shared import Parts


@dataclass(frozen=True)
class Relay:
    """``first`` acts until the fork, then the agent of the parts ``then``."""

    first: Agent
    then: Parts

    @property
    def requirements(self) -> Requirements:
        """Those of the first: the offer is opened for it."""
        return declared(self.first, Requirements)

    async def solve(self, episode: AnyEpisode) -> Answer | Refusal | Failure:
        """The outcome of the second."""
        assert isinstance(episode, Episode), "the runner's own"
        try:
            return await self.first.solve(episode)
        except HandOver:
            return await self.then.agent.solve(_handed(episode, self.then))


def _handed(episode: Episode, parts: Parts) -> Episode:
    """The episode for the agent of these parts."""
    shared, trajectory = episode.shared, episode.trajectory
    assert isinstance(shared.fork, Prefix), "it handed the episode over"
    shared.fork.hands_over = False
    fresh = parts.open(shared.sample, shared.epoch, shared.door.run_seed)
    fresh.state.close()
    added = {tool.spec.name: tool for _, tool in shared.added}
    offer = replace(fresh, state=episode.offer.state, tools={**fresh.tools, **added})
    trajectory.offered = tuple(tool.spec for tool in offer.tools.values())
    trajectory.facts = offer.facts
    rest = Episode(replace(shared, parts=parts), offer, attempt=episode.attempt)
    rest.continue_from(episode)
    turns = []
    for step in trajectory.steps:
        seen = [one for one in step.observed if not one.control]
        if step.branch == episode.name and step.acts and step.action is not None and seen:
            messages = [parts.grammar.render(one.call, one.observation) for one in seen]
            turns.append(Turn(step.action, messages, "\n".join(one.observation.text for one in seen)))
    rest.past = turns
    return rest
