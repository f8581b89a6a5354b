"""MedAgents: experts analyse, a report merges their analyses, they vote on it and revise it until all agree.

Source: Tang et al. 2024, Findings of ACL, arXiv 2311.10537, Algorithm 1; docs/papers/medagents.md. Every call is a
fresh chat of a role and an instruction. Departures: the two calls that gather experts are made at once; key knowledge
stays in the report; questions without options are decided in words; where tools are offered, each expert acts with
them in an attempt of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import maxsize
from typing import Annotated, Any, Literal
from unicodedata import category

from annotated_types import Ge

from components.acting.attempt import Acting, ActsInSteps, Shown, blind, read_control, shown_images, stated_outcome
from components.core.concurrency import together
from components.core.errors import AttemptOver, ModelError
from components.core.messages import Message, Sampling
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Answer, Failure, Problem, Refusal, as_failure
from components.panel.export import export_episode
from components.panel.published import READERS, UnreadableReport
from components.panel.replies import NO_ANALYSIS, clean_analysis
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
    """A panel of experts.

    ``level``: analyses alone, with a report of them, or with votes on it (Table 3 of the article). At most
    ``max_attempts`` rounds of votes; the last revision is not voted on. ``readers``: how replies are read, published as
    the published code does. ``expert_tools``: where tools are offered, each expert acts with them, at most
    ``max_steps`` steps.
    """

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
        return Requirements(export=export_episode)

    async def solve(self, episode: Episode) -> Answer | Failure:
        """The decision; Failure ``unsupported_input`` for images that no model can see, ``unreadable_report`` only
        where published readers meet a report that they cannot read."""
        if blind(episode):
            return Failure("unsupported_input", "the model takes no images")
        panel = Panel(self, episode, load(self.prompts), await _asked(episode, self.prompts))
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

    def opinion(self, text: str) -> "Opinion":
        """An analysis, or advice on the report, as prompts show it."""
        return {"side": self.side, "field": self.field, "text": text}


@dataclass
class Panel:
    """The stages over one question; ``asked``: the question and its options as prompts show them, and the question
    without what the toolset holds."""

    rules: MedAgents
    episode: Episode
    prompts: PromptSet
    asked: Mapping[str, str]
    key_knowledge: str = ""
    analysis: str = ""
    versions: int = 0

    def text(self, template: str, **values: Any) -> str:
        """A part of a prompt."""
        return self.prompts.render(template, **{**self.asked, **values})

    def _user(self, template: str, **values: Any) -> Message:
        return self.prompts.user(template, shown_images(self.episode), **{**self.asked, **values})

    def _as_expert(self, expert: Expert, template: str, **values: Any) -> list[Message]:
        role = self.prompts.system("expert_role", field=expert.field, side=expert.side)
        return [role, self._user(template, field=expert.field, **values)]

    async def convene(self) -> list[Expert]:
        """The experts on the question, then those on its options; a field that both name sits twice."""
        sides: Mapping[Side, int] = {"question": self.rules.question_experts, "option": self.rules.option_experts}
        asks = {
            f"convene/{n}": [self.prompts.system("convene_role"), self._user(f"convene_{side}", wanted=wanted)]
            for n, (side, wanted) in enumerate(sides.items(), 1)
        }
        replies = await self.episode.ask_each(asks, "plan", Sampling(max_tokens=self.rules.max_tokens.experts))
        experts: list[Expert] = []
        for name, reply, (side, wanted) in zip(asks, replies, sides.items(), strict=True):
            read = READERS[self.rules.readers].experts(reply.text, wanted)
            self.episode.branch(name).remark(
                label=f"experts on the {_SIDES[side]}: {', '.join(read.fields)}", stage="experts", side=side,
                wanted=wanted, fields=list(read.fields), parsed=read.parsed,
            )  # fmt: skip
            experts += [Expert(len(experts) + n, side, one) for n, one in enumerate(read.fields, 1)]
        return experts

    async def analyse(self, experts: Sequence[Expert]) -> list[Opinion]:
        """The analyses of the question, then those of the options, which are shown all of the first."""
        first = await self._analyses([one for one in experts if one.side == "question"], ())
        return first + await self._analyses([one for one in experts if one.side == "option"], first)

    async def _analyses(self, experts: Sequence[Expert], known: Sequence[Opinion]) -> list[Opinion]:
        acts = self.rules.expert_tools and bool(self.episode.offer.tools)
        shown: dict[str, Any] = {"analyses": known}
        if acts:  # their own prompts show what the toolset holds
            shown["question"] = self.asked["plain_question"]
        asks = {f"expert/{one.number}": self._as_expert(one, f"analyse_{one.side}", **shown) for one in experts}
        if acts:
            lines = self.episode.lines(list(asks))
            texts = await together(self._consult_tools(*one) for one in zip(lines, asks.values(), strict=True))
        else:
            limit = Sampling(max_tokens=self.rules.max_tokens.analysis)
            replies = await self.episode.ask_each(asks, "knowledge", limit)
            cut = [self.episode.branch(name).last.finish == "length" for name in asks]
            texts = [clean_analysis(reply.text, one) for reply, one in zip(replies, cut, strict=True)]
        for name, one, text in zip(asks, experts, texts, strict=True):
            label = f"analysis of the {_SIDES[one.side]}: {one.field}"
            self.episode.branch(name).remark(label=label, stage="analysis", missing=text == NO_ANALYSIS, **one.facts)
        return [one.opinion(text) for one, text in zip(experts, texts, strict=True)]

    async def _consult_tools(self, line: Episode, messages: Sequence[Message]) -> str:
        """An expert's analysis with the tools, on a separate branch with a fresh state and a share of the budget."""
        role, asked = (message.text for message in messages)
        settings = ActsInSteps(self.rules.expert_prompts, self.rules.max_steps, force_finish=True)
        try:
            outcome = await _act(line, settings, Shown(role=role, asked=asked))
        except AttemptOver:
            return NO_ANALYSIS
        return clean_analysis(outcome.text, cut=False) if isinstance(outcome, Answer) else NO_ANALYSIS

    async def report(self, opinions: Sequence[Opinion]) -> str:
        """The first report. Raises UnreadableReport (published readers only)."""
        ask = self._user("report", analyses=opinions)
        limit = Sampling(max_tokens=self.rules.max_tokens.report)
        reply = await self.episode.ask([self.prompts.system("report_role"), ask], "summarise", limit)
        return self._current(reply)

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
        for number in range(1, self.rules.max_attempts + 1):
            against = await self._vote(number, experts, report)
            if not against:
                break
            asks = {_line(number, one): self._as_expert(one, "advise", report=report) for one in against}
            limits = self.rules.max_tokens
            replies = await self.episode.ask_each(asks, "reflect", Sampling(max_tokens=limits.advice))
            for one, name in zip(against, asks, strict=True):
                label = f"round {number}, {one.field}: advice"
                self.episode.branch(name).remark(label=label, stage="advice", round=number, **one.facts)
            advice = [one.opinion(reply.text.strip()) for one, reply in zip(against, replies, strict=True)]
            ask = self._user("revise", report=report, advice=advice)
            reply = await self.episode.ask([ask], "report", Sampling(max_tokens=limits.report))
            report = self._current(reply, round=number)
        return report

    async def _vote(self, number: int, experts: Sequence[Expert], report: str) -> list[Expert]:
        """Those who vote no on the report."""
        asks = {_line(number, one): self._as_expert(one, "vote", report=report) for one in experts}
        replies = await self.episode.ask_each(asks, "vote", Sampling(max_tokens=self.rules.max_tokens.vote))
        against = []
        for expert, name, reply in zip(experts, asks, replies, strict=True):
            read = READERS[self.rules.readers].vote(reply.text)
            vote = "yes" if read.yes else "no"
            self.episode.branch(name).remark(
                label=f"round {number}, {expert.field}: {vote}", stage="vote", round=number, vote=vote,
                parsed=read.parsed, **expert.facts,
            )  # fmt: skip
            if not read.yes:
                against.append(expert)
        return against

    async def decide(self, material: str) -> str:
        """The answer: of a choice what follows the mark, as the model wrote it."""
        limit = Sampling(max_tokens=self.rules.max_tokens.decision)
        reply = await self.episode.ask([self._user("decide", material=material)], "answer", limit)
        self.episode.remark(label="decision", stage="decision")
        choices = self.episode.problem.choices
        return chosen(reply.text, choices) if choices else after_mark(reply.text)


def _line(number: int, expert: Expert) -> str:
    """The branch of an expert in a round."""
    return f"round/{number}/expert/{expert.number}"


async def _asked(episode: Episode, prompts: str) -> dict[str, str]:
    """The question and its options as all prompts show them."""
    problem = episode.problem
    shown = [await read_control(episode, name) for name in ("look", "inputs")]
    held = "\n\n".join(filter(None, shown))
    texts = load(prompts)
    question, plain = (texts.render("question", problem=problem, held=h, question=_closed(problem)) for h in (held, ""))
    options = texts.render("options", problem=problem) if problem.choices else ""
    return {"question": question, "plain_question": plain, "options": options}


def _closed(problem: Problem) -> str:
    """The question with a question mark, where it ends without any mark."""
    text = problem.question.strip()
    return text if not text or category(text[-1]).startswith(("P", "S")) else f"{text}?"


async def _act(line: Episode, settings: ActsInSteps, shown: Shown) -> Answer | Refusal | Failure | None:
    """How an expert who acts with the tools concludes; None without an answer in the last step."""
    acting = await Acting.begin(line, settings, shown)
    for step in range(1, (settings.max_steps or maxsize) + 1):
        try:
            action = await acting.act(closing=step == settings.max_steps)
        except ModelError as error:
            return as_failure(error)
        if (outcome := stated_outcome(action)) is not None:
            return outcome
        await acting.observe(action)
        if acting.is_over(action):
            return await acting.conclude()
    return None
