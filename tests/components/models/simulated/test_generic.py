"""A new agent with a new prompt runs offline: the simulated model has no special case for either."""

from dataclasses import dataclass
from typing import Any

from components.agents.react import ReAct
from components.core.messages import Message, ToolSpec
from components.core.tools import Offer
from components.core.types import Answer, Observation, Problem, Sample
from components.grammars.bracket_json import BracketJson, BracketText
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from runner.episode.budget import Budget
from runner.episode.episode import run_episode
from tests.parts import Right, door, parts
from tests.simulated import core, simulated
from tests.table import each_row

QUESTION = "Which vitamin prevents scurvy?"
SAMPLE = Sample(Problem("new", QUESTION, {"A": "vitamin A", "B": "vitamin B1", "C": "vitamin C"}), "C")
SCHEMA = {"properties": {"text": {"type": "string"}, "top": {"type": "integer", "minimum": 2}}, "required": ["text"]}


class Lexicon:
    """A tool that the simulated model has never heard of."""

    effect = "pure"
    spec = ToolSpec("Lexicon", "Looks a word up.", {"type": "object", **SCHEMA})

    async def __call__(self, context: Any, text: str, top: int = 2) -> Observation:
        return Observation(f"{text}: found")


class Shelf:
    """A toolset of one tool."""

    def open(self, sample: Sample) -> Offer:
        return Offer({"Lexicon": Lexicon()})


@dataclass(frozen=True)
class Debate:
    """A new agent: two opinions in a form of its own, a vote on them, then actions with tools."""

    async def solve(self, episode: Any) -> Answer:
        question = episode.problem.question
        form = (
            f"Ponder this riddle.\n\n{question}\n\nReply in this form:\nThesis: your view\nDoubt: what speaks against"
        )
        thesis = await episode.ask([Message("user", form)], "plan")
        vote = await episode.ask(
            [
                Message("user", f"{question}\n{thesis.text}\nDo you agree? Say YES or NO."),
            ],
            "vote",
        )
        assert thesis.text.startswith("Thesis: ") and "\nDoubt: " in thesis.text and vote.text == "YES"
        messages = [Message("system", f"Find out.\n{episode.instructions()}"), Message("user", question)]
        while True:
            action = await episode.act(messages)
            if action.answer is not None:
                return Answer(action.answer)
            messages += [action.message, *await episode.observe(action)]
            if action.last:
                return Answer((await episode.ask([*messages, Message("user", "Which?")], "answer")).text)


@each_row("grammar", [NativeTools(), XmlCall(), BracketJson()])
@each_row("agent", [Debate(), ReAct()])
async def test_a_new_agent_calls_a_new_tool_and_answers(agent, grammar):
    model = simulated(competence=1.0, malformed_rate=0.0)
    model.study([SAMPLE])
    given = parts(agent, grammar=grammar, toolset=Shelf(), scorers={"right": Right()}, budget=Budget(steps=9))
    trajectory, _ = await run_episode(given, door(model), SAMPLE, 0)
    assert trajectory.stop == "answered", trajectory.error
    assert [one.call.name for step in trajectory.steps for one in step.observed] == ["Lexicon"]
    assert trajectory.answer is not None and trajectory.answer.splitlines()[-1] == "Answer: C"


def test_plain_actions_are_written_in_lines():
    system = Message("system", f"Find out.\n{BracketText().instructions(Offer({}))}\nLexicon[text]: looks a word up")
    said = core([SAMPLE]).reply([system, Message("user", QUESTION)], (), 1).message.text
    assert said == "Thought: This is the answer.\nAction: Finish[Answer: C]"


def test_options_are_chosen_by_competence_and_reasons_given_on_request():
    plain, reasoned = Message("user", QUESTION), Message("user", f"{QUESTION}\nThink step by step.")
    assert core([SAMPLE]).reply([plain], (), 1).message.text == "Answer: C"
    first, last = core([SAMPLE]).reply([reasoned], (), 1).message.text.splitlines()
    assert "vitamin C" in first and last == "Answer: C"
    wrong = {core([SAMPLE], competence=0.0).reply([plain], (), seed).message.text for seed in range(20)}
    assert wrong == {"Answer: A", "Answer: B"}
    assert core().reply([plain], (), 1).message.text == "Answer: not known"
    assert "next tool that fits" in core([SAMPLE], malformed=1.0).reply([plain], (), 1).message.text


def test_a_verifier_of_a_new_agent_gets_a_candidate_or_the_proposal():
    asked = "[Candidate_Actions]\n1. Action: Lexicon[{}]\n\nSelected action:"
    assert core([SAMPLE]).reply([Message("user", f"{QUESTION}\n\n{asked}")], (), 1).message.text == "Lexicon[{}]"
