"""RadABench's agent: plan, execute call by call from a shared memory, conclude; with four prompting strategies.

Source: Zheng et al. 2024, arXiv 2412.09529, and the reference implementation (MAGIC-AI4Med/RadABench, January 2025).
PLAN, START_MEMORY, STEP*, then a refusal, a failure, or [VALIDATE] and CONCLUDE. A failed step ends the episode (of a
tool's own failure: unless ``on_failure`` is continue); nothing is retried. Departures in profile ``paper``: the real
planning reply stays in the conversation, the query comes with the patient's information, and there is a step limit.

Strategies (no code was published): ``refined_prompts`` (another prompt set), ``self_reflection`` (a reflection before
every call, which a verifier asks for and checks), ``few_shot`` (examples in the prompts), ``multi_agent`` (planner,
executor and concluder, each on its own branch with its own system prompt).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal

from components.acting.arguments import foresee_error, reflection_in
from components.building import BuildsTools, outside_memory
from components.core.errors import ConfigError, ToolError
from components.core.messages import Message, continued
from components.core.protocols import Episode, Verifier
from components.core.tools import Offer
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal
from components.prompts import load
from components.radiology.plan import read_plan
from components.radiology.shots import NO_SHOTS, Shots, shots_of
from components.radiology.switches import Switches

Strategy = Literal["refined_prompts", "self_reflection", "few_shot", "multi_agent"]
Part = Literal["planner", "executor", "concluder"]
_ORDER: Mapping[Part, int] = {"planner": 1, "executor": 2, "concluder": 3}  # branches are put in order by their names


@dataclass(frozen=True)
class Role:
    """The model of a part: a name under ``models``; None: the one with the part's name, else the main one."""

    model: str | None = None


@dataclass(frozen=True)
class Roles:
    """The parts of strategy ``multi_agent``."""

    planner: Role = Role()
    executor: Role = Role()
    concluder: Role = Role()

    @property
    def named(self) -> Sequence[str]:
        """The models that the roles name."""
        return [one.model for one in (self.planner, self.executor, self.concluder) if one.model is not None]


@dataclass(frozen=True)
class Radagent(BuildsTools):
    """The three-phase agent over a toolset with a value memory (controls ``start``, ``look``, ``final``).

    ``strategies``: any of the four, each once, in any order. ``refined``: the prompt set of refined_prompts, which
    replaces ``prompts``. ``examples``: the prompt set with the data of few_shot. ``reflector``: the verifier of
    self_reflection. ``roles``: models of multi_agent. ``on_failure`` continue: a tool's own failure is reported to the
    model; a call that breaks the rules ends the episode in any case. Raises ConfigError.
    """

    switches: Switches
    prompts: PromptSetName = "radagent"
    strategies: Sequence[Strategy] = ()
    refined: str = "radagent_refined"
    examples: str = "radagent_examples"
    reflector: Verifier | None = None
    roles: Roles = field(default_factory=Roles)
    on_failure: Literal["end", "continue"] = "end"

    def __post_init__(self) -> None:
        chosen = list(self.strategies)
        if repeated := [one for one in chosen if chosen.count(one) > 1]:
            raise ConfigError(f"strategies: {repeated[0]!r} is listed {chosen.count(repeated[0])} times")
        if self.reflects and self.reflector is None:
            raise ConfigError("strategies: self_reflection needs a reflector; give +verifier@agent.reflector=reflect")
        if self.roles.named and not self.parted:
            raise ConfigError(f"roles: models are named ({self.roles.named[0]}), but strategies have no multi_agent")
        if "refined_prompts" in chosen:
            if self.prompts not in (type(self).prompts, self.refined):
                raise ConfigError(
                    f"prompts={self.prompts} is not read with refined_prompts; set refined={self.prompts}"
                )
            object.__setattr__(self, "prompts", self.refined)

    @property
    def reflects(self) -> bool:
        """Whether a reflection is asked for."""
        return "self_reflection" in self.strategies

    @property
    def parted(self) -> bool:
        """Whether planner, executor and concluder are branches."""
        return "multi_agent" in self.strategies

    @property
    def requirements(self) -> Requirements:
        """The controls of the value memory, what the strategies add, and the tool builder."""
        own, examples = super().requirements, [self.examples] if "few_shot" in self.strategies else []
        return replace(
            own, controls=("start", "look", "final"), fits="dataset=radabench_mini toolset=radiology",
            models=self.roles.named, prompts=(*own.prompts, *examples),
            verifier=self.reflector if self.reflects else None, shown_patients=self._shots.patients,
        )  # fmt: skip

    def check_offer(self, offer: Offer) -> None:
        """Raises ConfigError for prompts that a model wrote where strategies would add to them."""
        super().check_offer(offer)
        added = [one for one in self.strategies if one != "refined_prompts"]
        if added and (written := load(self.prompts).written):
            raise ConfigError(
                f"agent.strategies: {added[0]} adds to {', '.join(written)}, but those of {self.prompts!r} were written"
                " without it; choose other prompts, or leave it out"
            )

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Plan, start the memory, execute, conclude."""
        prompts, problem, planner = load(self.prompts), episode.problem, self._part(episode, "planner")
        context = problem.context if self.switches.patient_info_in_plan else ""
        query = prompts.user("query", problem.images, question=problem.question, context=context)
        shown = self._shots.plans(self.parted, self.reflects, "refined_prompts" in self.strategies)
        asked = prompts.system("plan", as_object=self.parted, reflects=self.reflects, examples=shown)
        plan = await planner.ask([asked, query], "plan")
        read = read_plan(plan.text) if self.parted or self.reflects else None
        try:
            start = await planner.control("start", plan=plan.text if read is None else read.claims)
        except ToolError as error:
            return Failure(error.label, str(error))
        examples = self._shots.replies(episode, self.reflects)
        replies: dict[str, Any] = {"instructions": episode.instructions(), "examples": examples}
        if self.parted:
            handed = plan.text if read is None else read.text
            system = prompts.system("executor", reflects=self.reflects, query=query.text, plan=handed, **replies)
            return await self._execute(episode, [system], query.text)
        if not self.switches.real_plan_reply:
            plan = prompts.assistant("plan_echo", memory=start.text, plan=start.data.get("plan"))
        tools = prompts.user("tools", reflects=self.reflects, **replies)
        return await self._execute(episode, [asked, query, plan, tools, prompts.assistant("ready")], query.text)

    async def _execute(self, episode: Episode, messages: list[Message], query: str) -> Answer | Refusal | Failure:
        """Call tools until the last call, a refusal or a failure."""
        prompts, executor = load(self.prompts), self._part(episode, "executor")
        for done in count():
            if done == self.switches.max_steps:
                return Failure("step_limit", f"no last call within {done} steps")
            memory = await executor.control("look")
            turn = continued(messages, prompts.user("step", memory=memory.text))
            action = await executor.act(turn)
            if action.error is not None:
                return Failure(action.error, action.error_text)
            if self.reflects and action.answer is None and not reflection_in(action.message.text):
                return Failure("no_reflection", "the reply does not reflect before it acts")
            if action.refusal is not None:
                if (resumed := await self.resumed(executor, turn, action)) is None:
                    return action.refusal
                messages = resumed
                continue
            ends = self.on_failure == "end" or foresee_error(executor.offer, action) is not None
            observations = await executor.observe(action)
            failed = next((one for one in executor.last.observed if one.error is not None), None)
            if failed is not None and ends:
                return Failure(failed.error or "", failed.observation.text)
            # Text grammars read results from the memory; native calls must each be answered.
            messages = [*turn, action.message, *outside_memory(executor, observations)]
            if failed is None and (action.last or action.answer is not None):
                break
        if episode.offer.validates:
            await executor.ask([*messages, prompts.user("validate")], "validate")
        return await self._conclude(episode, messages, query)

    async def _conclude(self, episode: Episode, messages: list[Message], query: str) -> Answer:
        """Answer from the final memory; the concluder sees nothing else but the query."""
        prompts, concluder = load(self.prompts), self._part(episode, "concluder")
        # What the base prompts ask for after the answer; a concluder of its own has seen no plan.
        support = () if "refined_prompts" in self.strategies else ("evidence", "alignment")[: 1 if self.parted else 2]
        shown = self._shots.answers(support)
        memory = (await concluder.control("final")).text
        if self.parted:
            asked = prompts.user("conclusion", query=query, memory=memory)
            messages = [prompts.system("concluder", examples=shown), asked]
        else:
            messages = [*messages, prompts.user("conclude", memory=memory, examples=shown)]
        return Answer((await concluder.ask(messages, "conclude")).text)

    def _part(self, episode: Episode, name: Part) -> Episode:
        """The branch of a part, or the episode itself."""
        if not self.parted:
            return episode
        role: Role = getattr(self.roles, name)
        return episode.branch(f"{_ORDER[name]}/{name}", role=role.model or name)

    @property
    def _shots(self) -> Shots:
        """The examples of few_shot; none of any kind without it."""
        return shots_of(self.examples) if "few_shot" in self.strategies else NO_SHOTS
