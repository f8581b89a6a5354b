"""MedAgents: experts analyse, a report merges their analyses, they vote on it and revise it until all agree.

Source: Tang et al. 2024, Findings of ACL, arXiv 2311.10537, Algorithm 1; docs/papers/medagents.md. Every call is a
fresh chat of a role and an instruction. Departures: the two calls that gather experts are made at once; key knowledge
stays in the report; questions without options are decided in words; where tools are offered, each expert uses them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import maxsize
from typing import Annotated, Any, Literal
from unicodedata import category

from annotated_types import Ge

from components.acting.attempt import Acting, ActsInSteps, Shown, blind, read_control, shown_images, stated_outcome
from components.core.concurrency import gather_all
from components.core.errors import AttemptOver, ModelError
from components.core.messages import Message, Purpose, Sampling
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Refusal, as_failure
from components.panel.replies import NO_ANALYSIS, READERS, UnreadableReport, clean_analysis
from components.panel.scorer import export_episode
from components.prompts import PromptSet, load
from components.text.answers import after_mark, chosen

Level = Literal["analysis", "summary", "consultation"]
Side = Literal["question", "option"]
Tokens = Annotated[int, Ge(1)] | None
Opinion = Mapping[str, str]


@dataclass(frozen=True)
class Lengths:
    """Longest reply of each kind of call, in tokens; None = the model's own limit."""

    experts: Tokens = 50
    analysis: Tokens = 300
    report: Tokens = 2500
    vote: Tokens = 30
    advice: Tokens = 500
    decision: Tokens = 2500


_SIDES: Mapping[Side, str] = {"question": "question", "option": "options"}


@dataclass(frozen=True)
class MedAgents:
    """A panel of experts. ``level``: analyses alone, with a report of them, or with votes on it (Table 3 of the
    article). At most ``max_attempts`` rounds of votes; the last revision is not voted on. ``readers``: how replies are
    read, published as the published code does. ``expert_tools``: each expert acts with them, at most ``max_steps``."""

    prompts: PromptSetName = "medagents"
    expert_prompts: PromptSetName = "medagents_expert"
    level: Level = "consultation"
    question_experts: Annotated[int, Ge(1)] = 5
    option_experts: Annotated[int, Ge(1)] = 2
    max_attempts: Annotated[int, Ge(1)] = 3
    readers: Literal["repaired", "published"] = "repaired"
    expert_tools: bool = True
    max_steps: Annotated[int, Ge(1)] | None = 15
    max_tokens: Lengths = field(default_factory=Lengths)

    @property
    def requirements(self) -> Requirements:
        """Nothing; an episode can be exported in the layout of the published records."""
        return Requirements(acts="with_tools" if self.expert_tools else "never", export=export_episode)

    async def solve(self, episode: Episode) -> Answer | Failure:
        """The decision; Failure ``unsupported_input`` for images that no model can see, ``unreadable_report`` only
        where published readers meet a report that they cannot read."""
        if blind(episode):
            return Failure("unsupported_input", "the model takes no images")
        panel = Panel(self, episode, load(self.prompts), await _question_texts(episode, self.prompts))
        experts = await panel.convene()
        opinions = await panel.analyse(experts)
        try:
            if self.level == "analysis":
                material = panel.text("analyses", analyses=opinions)
            else:
                material = await panel.report(opinions)
            if self.level == "consultation":
                material = await panel.consult(experts, material)
        except UnreadableReport as error:
            return Failure("unreadable_report", str(error))
        return Answer(await panel.decide(material))


@dataclass(frozen=True)
class Expert:
    """A member of the panel; ``number`` counts from 1, those on the question first."""

    number: int
    side: Side
    field: str

    @property
    def facts(self) -> dict[str, Any]:
        """How remarks name the expert."""
        return {"expert": self.number - 1, "side": self.side, "field": self.field}

    def opinion(self, text: str) -> Opinion:
        """An analysis, or advice on the report, as prompts show it."""
        return {"side": self.side, "field": self.field, "text": text}


@dataclass
class Panel:
    """The stages over one question; ``shown``: how prompts show it, also without what the toolset holds."""

    rules: MedAgents
    episode: Episode
    prompts: PromptSet
    shown: Mapping[str, str]
    key_knowledge: str = ""
    analysis: str = ""
    versions: int = 0

    def text(self, template: str, **values: Any) -> str:
        """A part of a prompt."""
        return self.prompts.render(template, **{**self.shown, **values})

    def _user(self, template: str, **values: Any) -> Message:
        return self.prompts.user(template, shown_images(self.episode), **{**self.shown, **values})

    def _as_experts(
        self, experts: Sequence[Expert], branch: str, template: str, **values: Any
    ) -> dict[str, list[Message]]:
        """What experts are asked, by the branch of each."""
        return {
            f"{branch}expert/{one.number}": [
                self.prompts.system("expert_role", field=one.field, side=one.side),
                self._user(template, field=one.field, **values),
            ]
            for one in experts
        }

    async def _ask_each(
        self, asks: Mapping[str, list[Message]], purpose: Purpose, limit: Tokens
    ) -> list[tuple[Episode, str]]:
        replies = await self.episode.ask_each(asks, purpose, Sampling(max_tokens=limit))
        return [(self.episode.branch(name), reply.text) for name, reply in zip(asks, replies, strict=True)]

    async def convene(self) -> list[Expert]:
        """The experts on the question, then those on its options; a field that both name sits twice."""
        sides: Mapping[Side, int] = {"question": self.rules.question_experts, "option": self.rules.option_experts}
        asks = {
            f"convene/{n}": [self.prompts.system("convene_role"), self._user(f"convene_{side}", wanted=wanted)]
            for n, (side, wanted) in enumerate(sides.items(), 1)
        }
        replies = await self._ask_each(asks, "plan", self.rules.max_tokens.experts)
        experts: list[Expert] = []
        for (branch, text), (side, wanted) in zip(replies, sides.items(), strict=True):
            read = READERS[self.rules.readers].experts(text, wanted)
            label, fields = f"experts on the {_SIDES[side]}: {', '.join(read.fields)}", list(read.fields)
            branch.remark(label=label, stage="experts", side=side, wanted=wanted, fields=fields, parsed=read.parsed)
            experts += [Expert(len(experts) + n, side, one) for n, one in enumerate(read.fields, 1)]
        return experts

    async def analyse(self, experts: Sequence[Expert]) -> list[Opinion]:
        """The analyses of the question, then those of the options, which are shown all of the first."""
        acts = self.rules.expert_tools and bool(self.episode.offer.tools)
        # The prompts of experts who act show what the toolset holds themselves.
        plain = {"question": self.shown["plain_question"]} if acts else {}
        known: list[Opinion] = []
        for side, noun in _SIDES.items():
            seats = [one for one in experts if one.side == side]
            asks = self._as_experts(seats, "", f"analyse_{side}", analyses=tuple(known), **plain)
            if acts:
                lines = self.episode.lines(list(asks))
                texts = await gather_all(self._consult_tools(*one) for one in zip(lines, asks.values(), strict=True))
            else:
                replies = await self._ask_each(asks, "knowledge", self.rules.max_tokens.analysis)
                texts = [clean_analysis(text, branch.last.finish == "length") for branch, text in replies]
            for name, one, text in zip(asks, seats, texts, strict=True):
                label, missing = f"analysis of the {noun}: {one.field}", text == NO_ANALYSIS
                self.episode.branch(name).remark(label=label, stage="analysis", missing=missing, **one.facts)
            known += [one.opinion(text) for one, text in zip(seats, texts, strict=True)]
        return known

    async def _consult_tools(self, line: Episode, messages: Sequence[Message]) -> str:
        """An expert's analysis with the tools, on a separate branch with a fresh state and a share of the budget."""
        role, ask = (message.text for message in messages)
        most = self.rules.max_steps
        settings = ActsInSteps(self.rules.expert_prompts, most, force_finish=True)
        outcome: Answer | Refusal | Failure | None = None  # none without an answer in the last step
        try:
            acting = await Acting.begin(line, settings, Shown(role=role, asked=ask))
            for step in range(1, (most or maxsize) + 1):
                try:
                    action = await acting.act(closing=step == most)
                except ModelError as error:
                    outcome = as_failure(error)
                    break
                if (outcome := stated_outcome(action)) is not None:
                    break
                await acting.observe(action)
                if acting.is_over(action):
                    outcome = await acting.conclude()
                    break
        except AttemptOver:
            return NO_ANALYSIS
        return clean_analysis(outcome.text, cut=False) if isinstance(outcome, Answer) else NO_ANALYSIS

    async def report(self, opinions: Sequence[Opinion]) -> str:
        """The first report. Raises UnreadableReport (published readers only)."""
        ask = self._user("report", analyses=opinions)
        limit = Sampling(max_tokens=self.rules.max_tokens.report)
        return self._current(await self.episode.ask([self.prompts.system("report_role"), ask], "summarise", limit))

    def _current(self, reply: Message, **facts: int) -> str:
        """The report as all are shown it from now on; a part stays as it is where the reply has none."""
        self.episode.remark(label=f"report, version {self.versions}", stage="report", version=self.versions, **facts)
        read = READERS[self.rules.readers].report(reply.text)
        self.episode.remark(parsed=read.parsed)
        self.versions += 1
        self.key_knowledge = read.key_knowledge or self.key_knowledge
        self.analysis = read.total_analysis or self.analysis
        return self.text("standing", key_knowledge=self.key_knowledge, total_analysis=self.analysis)

    async def consult(self, experts: Sequence[Expert], report: str) -> str:
        """Algorithm 1: the report that all agree on, or the last revision of it."""
        limits, read_vote = self.rules.max_tokens, READERS[self.rules.readers].vote
        for number in range(1, self.rules.max_attempts + 1):
            against, advice = [], []
            asks = self._as_experts(experts, f"round/{number}/", "vote", report=report)
            for one, (branch, text) in zip(experts, await self._ask_each(asks, "vote", limits.vote), strict=True):
                read = read_vote(text)
                label, facts = f"round {number}, {one.field}: {read.word}", {"vote": read.word, "parsed": read.parsed}
                branch.remark(label=label, stage="vote", round=number, **facts, **one.facts)
                against += [] if read.yes else [one]
            if not against:
                break
            asks = self._as_experts(against, f"round/{number}/", "advise", report=report)
            for one, (branch, text) in zip(against, await self._ask_each(asks, "reflect", limits.advice), strict=True):
                label = f"round {number}, {one.field}: advice"
                branch.remark(label=label, stage="advice", round=number, **one.facts)
                advice.append(one.opinion(text.strip()))
            ask = self._user("revise", report=report, advice=advice)
            reply = await self.episode.ask([ask], "report", Sampling(max_tokens=limits.report))
            report = self._current(reply, round=number)
        return report

    async def decide(self, material: str) -> str:
        """The answer: of a choice what follows the mark, as the model wrote it."""
        limit = Sampling(max_tokens=self.rules.max_tokens.decision)
        reply = await self.episode.ask([self._user("decide", material=material)], "answer", limit)
        self.episode.remark(label="decision", stage="decision")
        choices = self.episode.problem.choices
        return chosen(reply.text, choices) if choices else after_mark(reply.text)


async def _question_texts(episode: Episode, prompts: str) -> dict[str, str]:
    """The question and its options as all prompts show them; a question without any mark at its end gets one."""
    problem, texts = episode.problem, load(prompts)
    controls = [await read_control(episode, name) for name in ("look", "inputs")]
    text = problem.question.strip()
    text += "?" if text and not category(text[-1]).startswith(("P", "S")) else ""
    question, plain = (
        texts.render("question", problem=problem, held=held, question=text)
        for held in ("\n\n".join(filter(None, controls)), "")
    )
    options = texts.render("options", problem=problem) if problem.choices else ""
    return {"question": question, "plain_question": plain, "options": options}
