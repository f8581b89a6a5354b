"""A confidence is asked for, read and remarked once per episode; without ``confidence`` nothing is asked."""

from dataclasses import dataclass, field, replace
from math import exp, log

import pytest

from components.agents.direct import Direct
from components.agents.self_consistency import SelfConsistency
from components.core.messages import Completion, Image, Message, Usage
from components.core.types import Action, Answer, Problem, Sample, Step, Trajectory
from components.grammars.native_tools import NativeTools
from components.scorers.confidence import RIGHT, STATED, WRONG, Confidence
from runner.episode.confidence import answer_place, answer_probability, with_request
from runner.episode.episode import run_episode
from tests.parts import Looper, Speaker, door, parts
from tests.table import each_row

ASKED = Sample(Problem("q", "Which?", choices={"A": "one", "B": "two"}), "B")
SCORES = {"confidence": Confidence()}


async def solve(model, agent, kind, grammar=None):
    """The trajectory, and the score with its explanation."""
    grammar = NativeTools(confidence=kind == "verbal") if grammar is None else grammar
    made = parts(agent, scorers=SCORES, confidence=kind, grammar=grammar)
    trajectory, scores = await run_episode(made, door(model), ASKED, 0)
    assert trajectory.stop == "answered", trajectory.error
    return trajectory, scores[0]


@dataclass
class Tokens(Speaker):
    """Gives the tokens of its replies, each with this probability; of none where it is None."""

    probability: float | None = 0.5
    sent: list = field(default_factory=list)

    async def generate(self, request):
        self.sent.append(request.sampling.logprobs)
        text, p = self.say(request), self.probability
        tokens = None if p is None else [{"token": one, "logprob": log(p)} for one in text]
        return Completion(Message("assistant", text), Usage(1, 1, 0.0), "stop", tokens)


async def test_a_plain_question_gets_one_line_more_which_the_agent_does_not_see():
    model = Speaker(lambda _: "Answer: B\nConfidence: 80 %")
    trajectory, score = await solve(model, Direct(), "verbal")
    assert (trajectory.answer, score.value) == ("B", 0.8)
    asked = model.asked[0].messages[-1]
    assert asked.text.endswith("that your answer is right>") and asked.source == "direct/problem.jinja"
    assert trajectory.steps[0].reply.text.endswith("80 %"), "the record has the reply as it was written"


async def test_without_a_confidence_nothing_is_asked_and_nothing_is_cut():
    model = Speaker(lambda _: "Answer: B\nConfidence: 80 %")
    trajectory, score = await solve(model, Direct(), None)
    assert "onfidence" not in model.asked[0].messages[-1].text and not model.asked[0].sampling.logprobs
    assert trajectory.steps[0].remarks == {}
    assert (score.value, score.explanation) == (None, "not stated: nothing was asked")


async def test_an_action_that_ends_states_it():
    _, score = await solve(Speaker(lambda _: "It is B.\nConfidence: 65"), Looper(), "verbal")
    assert score.value == 0.65


@pytest.mark.parametrize("text", ["Answer: B", "Answer: B\nConfidence: very", "Answer: B\nConfidence: 0.9"])
async def test_what_is_missing_or_unreadable_is_not_stated(text):
    for agent in (Direct(), Looper()):
        _, score = await solve(Speaker(lambda _: text), agent, "verbal")
        assert (score.value, score.explanation) == (None, "not stated: the ending states none that can be read")


@dataclass(frozen=True)
class Planner:
    """Its only question is none that may be the last."""

    async def solve(self, episode):
        return Answer((await episode.ask([Message("user", "Which?")], "plan")).text)


async def test_an_agent_whose_last_question_is_not_known_says_so():
    _, score = await solve(Speaker(lambda _: "B"), Planner(), "verbal")
    assert score.explanation == "not stated: no question of this agent is known to be its last"


async def test_of_several_draws_the_chosen_one_states_it_and_their_agreement_is_another_kind():
    def say(request):
        n = int(request.branch.partition("/")[2])
        return f"Answer: {'A' if n == 1 else 'B'}\nConfidence: {10 * n}"

    draws = SelfConsistency(Direct(), draws=4)
    assert (await solve(Speaker(say), draws, "verbal"))[1].value == 0.2, "of the first draw that says B"
    assert (await solve(Speaker(say), draws, "samples"))[1].value == 0.75


async def test_draws_of_which_none_can_be_read_state_nothing():
    _, score = await solve(Speaker(lambda _: "?!"), SelfConsistency(Direct(), draws=3), "samples")
    assert (score.value, score.explanation) == (None, "not stated: no draw can be read")


async def test_the_probability_of_the_answers_tokens():
    model = Tokens(lambda _: "B or A: I think.\nAnswer: B", probability=0.25)
    trajectory, score = await solve(model, Direct(), "logprobs")
    assert (score.value, model.sent) == (pytest.approx(0.25), [True])
    assert trajectory.steps[0].remarks["confidence"] == pytest.approx(0.25)


async def test_an_endpoint_that_gives_no_tokens_is_named():
    _, score = await solve(Tokens(lambda _: "Answer: B", probability=None), Direct(), "logprobs")
    assert score.explanation == "not stated: the endpoint gave no log-probabilities of tokens"


async def test_an_answer_that_no_reply_holds_is_not_stated():
    @dataclass(frozen=True)
    class Computes:
        async def solve(self, episode):
            await episode.ask([Message("user", "6 x 7?")], "answer")
            return Answer("42")

    _, score = await solve(Tokens(lambda _: "I multiply."), Computes(), "logprobs")
    assert score.explanation == "not stated: no reply with log-probabilities has the answer at exactly one place"


def tokens(*pairs):
    return [{"token": token, "logprob": value} for token, value in pairs]


CHOICES = {"A": "one", "B": "two"}


def test_the_geometric_mean_of_the_last_place_alone_counts():
    given = tokens(("B", -9.0), (" is", -9.0), (" E.", -1.0), (" coli", -3.0), (".", -9.0))
    assert answer_probability(given, "E. coli", {}) == pytest.approx(exp(-2))
    assert answer_probability(given, "none", {}) is None
    assert answer_probability(tokens(("a \\", -9.0), ('"b', -3.0)), 'a "b', {}) == pytest.approx(exp(-6)), "as in JSON"


@each_row("value, probability", {
    "zero": (0, 1.0), "llama.cpp's least": (-3.4028234663852886e38, 0.0), "infinite": (float("-inf"), 0.0),
    "a long integer": (-(10**400), 0.0), "none": (None, None), "text": ("-1", None), "true": (True, None),
    "false": (False, None), "positive": (1e-9, None), "too large to exponentiate": (1000.0, None),
    "too large a number": (10**400, None), "no number": (float("nan"), None),
}.values())  # fmt: skip
def test_a_log_probability_is_a_number_of_0_or_less(value, probability):
    found = answer_probability(tokens(("B", value)), "B", CHOICES)
    assert (
        found == probability if probability is not None else str(found).startswith("the endpoint gave an invalid log")
    )
    assert isinstance(answer_probability([*tokens(("a", value)), {"token": "b"}], "ab", {}), str), "one has no key"


@each_row("reply, answer, place", {
    "an article after the letter": ("Answer: A. A fever is typical", "A. A fever is typical", 8),
    "the letter alone": ("Answer: A. A fever is typical", "A", 8),
    "an article before it": ("A fever is typical.\nAnswer: A", "A", 28),
    "in an action": ('Thought: A fever, or B.\nFinish[{"response": "A"}] A', "A", 45),
    "in an element": ("B? A fever.<Answer> A </Answer>", "A", 20),
    "with its text": ('B? {"answer": "(A) one"}', "(A) one", 16),
    "two places": ("It may be A. And A is rare.", "A", None),
    "another letter is read": ("The answer is B.", "A", None),
    "nowhere": ("I multiply.", "A", None),
}.values())  # fmt: skip
def test_a_choice_is_its_letter_where_it_was_read(reply, answer, place):
    assert answer_place(reply, answer, CHOICES) == (None if place is None else (place, place + 1))


def test_images_stay_in_front_of_the_request():
    message = Message("user", ("Look.", Image("data:x")), source="a/b.jinja")
    asked = with_request([message])[-1]
    assert asked.content[:2] == message.content and asked.content[2].startswith("Below your answer")


def scored(**fields):
    found = Confidence().score(fields.pop("sample", ASKED), Trajectory(**fields))
    return {one.name: one.value for one in found}


def test_refusals_that_are_right_missing_and_wrong():
    impossible = replace(ASKED, metadata={"answerable": False})
    assert scored(stop="refused", sample=impossible) == {STATED: None, RIGHT: 1.0, WRONG: None}
    assert scored(stop="answered", facts={"kind": "insufficient"})[RIGHT] == 0.0
    assert scored(stop="refused")[WRONG] == 1.0 and scored(stop="failed")[WRONG] == 0.0
    assert set(scored(stop="error").values()) == {None}


def test_only_a_committed_step_of_the_newest_statement_counts():
    def said(value, **fields):
        return Step(
            "act", "main", "main", 0, 0, (), Message("assistant"), Usage(), remarks={"confidence": value}, **fields
        )

    steps = [said(0.3), said(0.6), said(0.9, committed=False, action=Action(Message("assistant")))]
    assert scored(steps=steps, stop="answered", answer="B")[STATED] == 0.6
