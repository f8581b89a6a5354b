"""The simulated model says how sure it is where a prompt asks for it, and its answers stay what they are."""

from math import exp, log
from statistics import fmean

import pytest

from components.core.messages import Message, Request, Sampling, continued
from components.core.types import Problem, Sample
from components.models.replies import read_reply
from components.models.simulated.confidence import logprobs, with_confidence, without_request
from components.prompts import load
from components.serving import chat_api
from components.text.confidence import read_percentage, split_line
from tests.simulated import core, simulated
from tests.table import each_row

SAMPLES = [
    Sample(Problem(f"q{n}", f"Which vessel is number {n}?", choices={"A": "aorta", "B": "vein"}), "AB"[n % 2])
    for n in range(400)
]
CUT = {
    "xml_call": ("<EndCall>\n<Tool>a</Tool>\n</EndCall>", "<Confidence>80</Confidence>\n</EndCall>"),
    "bracket_json": ('Action: Finish[{"response": "B"}]', '"response": "B", "confidence": 80}]'),
    "bracket_text": ("Action: Finish[B]", "Finish[B | confidence: 80]"),
    "code_block": ("It is 5.\nTERMINATE", "It is 5.\nConfidence: 80\nTERMINATE"),
    "native_tools": ("It is B.", "It is B.\nConfidence: 80"),
    "plain": ("Answer: B", "Answer: B\nConfidence: 80"),
}


def asked(sample, states=True):
    question = load("direct").user("problem", problem=sample.problem, held="")
    return continued([question], Message("user", load("confidence").render("plain"))) if states else [question]


def test_a_request_for_it_changes_no_answer():
    model = core(SAMPLES, competence=0.7)
    for sample in SAMPLES[:20]:
        plain, stating = (model.reply(asked(sample, states), (), 0).message.text for states in (False, True))
        assert split_line(stating)[0] == plain != stating


def test_a_right_answer_is_stated_with_more_and_all_with_too_much():
    model = core(SAMPLES, competence=0.75)
    stated = {True: [], False: []}
    for sample in SAMPLES:
        answer, said = split_line(model.reply(asked(sample), (), 0).message.text)
        stated[answer.endswith(sample.target)].append(read_percentage(said))
    assert fmean(stated[True]) > fmean(stated[False]) + 0.05
    assert fmean(stated[True] + stated[False]) > 0.75 + 0.05, "overconfident"


async def test_tokens_are_calibrated_and_only_given_when_asked_for():
    model, found = simulated(competence=0.75), []
    model.study(SAMPLES)
    for sample in SAMPLES:
        request = Request(
            tuple(asked(sample, False)), (), Sampling(logprobs=True), "answer", "main", "q", 0, "main", 0, 1
        )
        tokens = (await model.generate(request)).logprobs
        found.append(exp(tokens[-1]["logprob"]))
    assert "".join(one["token"] for one in tokens)[-1] in "AB" and fmean(found) == pytest.approx(0.75, abs=0.04)
    assert (await model.generate(request._replace(sampling=Sampling()))).logprobs is None


@each_row("form", CUT)
def test_an_ending_gets_it_in_the_form_that_is_asked_for(form):
    reply, written = CUT[form]
    said = with_confidence(Message("assistant", reply), [form], 0.64, unread=False).text
    assert said.endswith(written)
    messages = [Message("system", f"Act.\n\n{load('confidence').render(form)}\n\nNow."), Message("user", "Do.")]
    plain, forms = without_request(messages if form != "plain" else [*reversed(messages)])
    texts = {one.text for one in plain}
    assert texts == {"Act.\n\nNow.", "Do."} and list(forms) == [form]


def test_what_does_not_end_a_dialogue_has_none():
    call = 'Action: look[{"site": "arm"}]'
    assert with_confidence(Message("assistant", call), ["bracket_json"], 0.5, unread=False).text == call
    assert (
        with_confidence(Message("assistant", "<Call></Call>"), ["xml_call"], 0.5, unread=False).text == "<Call></Call>"
    )


def test_some_statements_cannot_be_read():
    model = core(SAMPLES, malformed=0.3)
    said = [split_line(model.reply(asked(sample), (), 0).message.text)[1] for sample in SAMPLES[:100]]
    assert 0 < sum(read_percentage(one) is None for one in said) < 60


def test_tokens_are_those_of_the_reply():
    found = logprobs(Message("assistant", "Answer: B, é"), 0.5)
    assert "".join(one["token"] for one in found) == "Answer: B, é" and {one["logprob"] for one in found} == {log(0.5)}


def test_a_server_gives_the_tokens_that_a_client_asks_for():
    sent = {"messages": [{"role": "user", "content": "Which?"}], "logprobs": True}
    assert chat_api.read(sent).logprobs and not chat_api.read({**sent, "logprobs": False}).logprobs
    completion = core(SAMPLES).reply(asked(SAMPLES[0], False), (), 0, logprobs=True)
    assert read_reply(chat_api.write(completion, 1, "m", 0), None).logprobs == completion.logprobs
    silent = completion._replace(logprobs=None)
    assert "logprobs" not in chat_api.write(silent, 1, "m", 0)["choices"][0]
