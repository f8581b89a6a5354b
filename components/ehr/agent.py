"""Agents that answer questions about health records with code that they write, run and repair.

EHRAgent: Shi et al. 2024, EMNLP, arXiv 2401.07128; docs/papers/ehragent.md. What is known is integrated first, solved
questions like this one are shown, cells run until the model says TERMINATE, and a debugger names the cause of each
failure. Each of the four can be left out, which also makes the two-agent chat of AutoGen (Wu et al. 2023, arXiv
2308.08155). Departures: no call of ours that fails becomes a text; a run that ends without TERMINATE has no answer.

Self-Debugging: Chen et al. 2024, ICLR, arXiv 2304.05128, as a baseline there: one call holds the explanation of a cell
and either the verdict or the whole new cell. Departure: a run that is never called right has no answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval

from components.acting.arguments import line_text
from components.acting.solved import MEMORY, SEEDS, Form, ShowsSolved, learn, seeds_of, solved_like, steps_of
from components.core.errors import ConfigError
from components.core.messages import Message, Sampling
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.traits import PromptSetName, Requirements
from components.core.types import Action, Answer, Failure, Observed, Refusal
from components.ehr.actions import PythonCell, cell_of
from components.ehr.outcome import export_episode
from components.ehr.toolset import Overview
from components.prompts import load

_CODE = (PythonCell(described=False),)
_REMINDED = "unparsable_reply"  # neither code nor the end: the planner is reminded, and nothing runs
_SHOWN = 200  # characters of an observation that a solved question shows


@dataclass
class _Chat:
    """A question and what is known of its database; the dialogue, how many executions there were, what the last of them
    gave, the cell or the actions that led there, and whether the last one succeeded."""

    question: str
    metadata: Mapping[str, Any]
    messages: list[Message] = field(default_factory=list)
    executions: int = 0
    answer: str | None = None
    solution: str = ""
    sound: bool = True


@dataclass(frozen=True)
class EhrAgent:
    """At most ``max_steps`` executions, shown ``shots`` solved questions.

    ``knowledge``, ``memory`` (False: the seeds, in their order), ``code`` (False: the toolset's actions) and
    ``debugger`` are the method's parts. ``columns``: the planner is shown the columns of all tables. ``feedback``: what
    the planner sees of a failure: type, message and line, or the whole traceback. ``state`` must be the toolset's.
    ``temperature``, ``top_p`` and ``max_tokens`` are those of the calls for knowledge and causes (None: the model's).
    """

    prompts: PromptSetName = "ehragent"
    knowledge: bool = True
    memory: bool = True
    code: bool = True
    debugger: bool = True
    shots: Annotated[int, Ge(0)] = 4
    max_steps: Annotated[int, Ge(1)] = 10
    columns: bool = True
    feedback: Literal["parsed", "traceback"] = "parsed"
    state: Literal["cell", "episode"] = "cell"
    temperature: Annotated[float, Interval(ge=0, le=2)] | None = 0.0
    top_p: Annotated[float, Interval(ge=0, le=1)] | None = 0.95
    max_tokens: Annotated[int, Ge(1)] | None = 800

    @property
    def requirements(self) -> Requirements:
        """The description of the database, the memory of what is shown, and the tool that runs cells."""
        memory = MEMORY if self.memory else SEEDS
        return Requirements(
            controls=("metadata",),
            fits="dataset=ehr_mini toolset=ehr",
            memory=memory if self.shots else None,
            shots=self.shots,
            tools=_CODE if self.code else (),
            only_own_tools=self.code,
            accepts=self._check_offer,
            export=export_episode,
        )

    def _check_offer(self, offer: Offer) -> None:
        metadata = offer.controls.get("metadata")
        state = metadata.state if isinstance(metadata, Overview) else self.state
        if state != self.state:
            raise ConfigError(f"agent.state is {self.state} and toolset.state {state}: set agent.state alone")
        if not self.code and any("code" in tool.spec.facts for tool in offer.tools.values()):
            raise ConfigError("agent.code=false takes actions, and only code is offered: choose toolset=ehr")

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Integrate, remember, then code until it is solved."""
        chat = _Chat(episode.problem.question.strip(), (await episode.control("metadata")).data)
        database = chat.metadata["database"]
        form: Form = "code" if self.code else "actions"
        found = (solved_like if self.memory else seeds_of)(episode, database, form)
        shots = [  # each with its code, or its actions and what came back, as the solution
            replace(one, solution=one.data["code"] if self.code else _with_observations(one.data["actions"]))
            for one in found[: self.shots]
        ]
        hits = [{"id": one.data["id"], "distance": one.data["distance"]} for one in shots] if self.memory else []
        remarks = {"memory_hits": hits, "memory_size": len(found)} if self.memory else {}
        known = ""
        if self.knowledge:  # which tables and columns the question is about, and how they are joined
            ask = self._user("knowledge", chat, shots=seeds_of(episode, database, form)[: self.shots])
            known = await self._ask(episode, "knowledge", "knowledge_system", ask)
        chat.messages = [
            load(self.prompts).system("system", instructions=episode.instructions(), code=self.code),
            self._user("problem", chat, shots=shots, known=known, columns=self.columns, knowledge=self.knowledge),
        ]
        ended = await self._converse(episode, chat, remarks)
        episode.remark(executions=chat.executions, terminated=ended is not None)
        if isinstance(ended, Answer) and chat.sound:
            entry = {"database": database, "question": chat.question, "knowledge": known}
            await learn(episode, ended, {**entry, form: chat.solution})
        return ended or Failure("step_limit", f"not solved within {self.max_steps} executions")

    async def _converse(
        self, episode: Episode, chat: _Chat, remarks: Mapping[str, Any]
    ) -> Answer | Refusal | Failure | None:
        """Execute until the model says TERMINATE; None when it never does. ``remarks`` are those of the first step."""
        while True:
            action = await episode.act(chat.messages)
            if not chat.executions:
                episode.remark(**remarks)
            if action.refusal is not None:
                return action.refusal
            if action.answer is not None:
                if not self.code:
                    chat.solution = f"{chat.solution}\n{line_text(action)}".strip()
                return _final(chat.answer if self.code else action.answer)
            if chat.executions == self.max_steps:
                return None
            chat.executions += 1
            seen = await episode.observe(action)
            if action.error != _REMINDED:  # which runs nothing
                self._ran(episode, chat, action)
            if action.last:
                return _final(chat.answer)
            text = await self._explained(episode, chat, action, seen[-1])
            chat.messages += [action.message, *seen[:-1], replace(seen[-1], content=text)]

    def _ran(self, episode: Episode, chat: _Chat, action: Action) -> None:
        """Take in what was executed: the value, and the cell or, of those that succeeded, the action."""
        seen = None if action.error or not episode.last.observed else episode.last.observed[-1]
        chat.sound = seen is not None and seen.error is None
        data = seen.observation.data if seen is not None and chat.sound else {}
        chat.answer = data.get("answer") if data.get("status") == "ok" else None
        if self.code:
            chat.solution = cell_of(action)
        elif seen is not None and chat.sound:
            text = " ".join(seen.observation.text.split())[:_SHOWN]
            chat.solution = f"{chat.solution}\n{line_text(action)}\nObservation: {text}".strip()

    async def _explained(self, episode: Episode, chat: _Chat, action: Action, seen: Message) -> str:
        """What the planner sees of an execution: of a failed one the cause too, by the debugger."""
        failed = [one for one in episode.last.observed if one.error is not None] if action.error is None else []
        if action.error == _REMINDED or not (failed or action.error):
            return seen.text
        if self.feedback == "traceback":
            error = failed[-1].observation.data.get("error") if failed else None
            return (error or {}).get("traceback") or seen.text
        if not self.debugger:
            return seen.text
        cell = (cell_of(action) if self.code else "") or action.message.text
        ask = self._user("debug", chat, cell=cell, failed=seen.text)
        cause = await self._ask(episode, "debug", "debug_system", ask)
        return load(self.prompts).render("cause", failed=seen.text, cause=cause)

    async def _ask(self, episode: Episode, purpose: Literal["knowledge", "debug"], system: str, ask: Message) -> str:
        sampling = Sampling(self.temperature, self.top_p, self.max_tokens)
        messages = [load(self.prompts).system(system, code=self.code), ask]
        return (await episode.ask(messages, purpose, sampling)).text.strip()

    def _user(self, template: str, chat: _Chat, **values: Any) -> Message:
        return load(self.prompts).user(
            template, question=chat.question, metadata=chat.metadata, code=self.code, **values
        )


def _final(text: str | None) -> Answer | Failure:
    return Failure("no_answer", "the last execution gave no value") if text is None else Answer(text)


def _with_observations(actions: str) -> str:
    return "\n".join(f"{did}\nObservation: {saw}" if saw else did for did, saw in steps_of(actions))


@dataclass(frozen=True)
class SelfDebugging(ShowsSolved):
    """At most ``max_steps`` cells, shown ``shots`` demonstrations, and after each one call that explains it. Of a cell
    the model sees its result or its whole traceback. Every new cell is run and explained, whatever verdict comes with
    it; a reply with neither a cell nor a verdict gets a reminder and counts as a cell."""

    prompts: PromptSetName = "self_debugging"
    max_steps: Annotated[int, Ge(1)] = 10

    @property
    def requirements(self) -> Requirements:
        """With the tool that runs a cell, and no other."""
        return replace(super().requirements, acts="always", tools=_CODE, only_own_tools=True)

    async def solve(self, episode: Episode) -> Answer | Refusal | Failure:
        """Write, then run and explain until the verdict."""
        prompts, metadata = load(self.prompts), (await episode.control("metadata")).data
        run: Observed | None = None
        shown = seeds_of(episode, metadata["database"], "code")[: self.shots]
        question = episode.problem.question.strip()
        task = prompts.user("problem", metadata=metadata, demonstrations=shown, question=question)
        fields = episode.offer.refusal_fields
        messages = [prompts.system("review_system", metadata=metadata, refusal_fields=fields), task]
        action = await episode.act([prompts.system("system", instructions=episode.instructions()), task])
        executions, ended = 0, _ended(action, run)
        while ended is None and executions < self.max_steps:
            executions += 1
            seen = await episode.observe(action)
            message, result = action.message, Message("user", seen[-1].text)
            if message.tool_calls:  # the calls that explain offer no function: a cell sent to one is a text there
                message = prompts.assistant("cell", cell=cell_of(action))
            if action.error is None:
                run = episode.last.observed[-1]
                trace = (run.observation.data.get("error") or {}).get("traceback")
                result = prompts.user("review", told=trace or run.observation.text)
            messages += [message, result]
            action = episode.parse(await episode.ask(messages, "reflect"))
            ended = _ended(action, run)
        episode.remark(executions=executions, terminated=ended is not None)
        return ended or Failure("step_limit", f"no cell was called right within {self.max_steps} executions")


def _ended(action: Action, run: Observed | None) -> Answer | Refusal | Failure | None:
    """The outcome that a reply states. A verdict comes without a cell, or with lines of the last one as quotations."""
    if action.refusal is not None:
        return action.refusal
    quotes = action.last and run is not None and _lines(cell_of(action)) <= _lines(str(run.call.parsed.get("cell")))
    if action.answer is None and not quotes:
        return None
    data = {} if run is None else run.observation.data
    return _final(data["answer"] if data.get("status") == "ok" else None)


def _lines(cell: str) -> set[str]:
    return {line.strip() for line in cell.splitlines() if line.strip()}
