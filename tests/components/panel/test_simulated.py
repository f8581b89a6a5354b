from itertools import product
from statistics import fmean

import pytest

from components.core.messages import Message
from components.core.types import Problem, Sample
from components.panel.replies import read_experts, read_report, read_vote
from components.panel.simulated import FIELDS, INSISTS_RIGHT, INSISTS_WRONG, Expert, Panel, favoured_answers
from components.prompts import load
from components.simulation.asked import Voice
from tests.components.cab.simulated.clinic import ALL
from tests.simulated import asked
from tests.simulated import core as made
from tests.slow import slow
from tests.table import each_row

CHOICES = {"A": "liver", "B": "pancreas", "C": "spleen", "D": "kidney"}
SAMPLE = Sample(Problem("c", "A man has a high glucose. Which organ makes insulin?", CHOICES), "B")
OPEN = Sample(
    Problem("d", "Is aspirin an opioid? Answer with yes, no or maybe."), "no", {"decisions": ("yes", "no", "maybe")}
)
PROMPTS = load("medagents")
SEEDS = range(1500)


def shown(sample):
    options = PROMPTS.render("options", problem=sample.problem) if sample.problem.choices else ""
    return {"question": sample.problem.question, "options": options}


def ask(template, sample=SAMPLE, **values):
    return PROMPTS.user(template, **shown(sample), **values)


def standing(analysis, sample=SAMPLE, **values):
    return PROMPTS.render("standing", key_knowledge="Glucose.", total_analysis=analysis, **shown(sample), **values)


def favours(answer):
    return f"Most of them agree.\nMost plausible: {answer}"


def analyses(*answers):
    analyses_given = [{"side": "question", "field": "Surgery", "text": 'The finding is "high glucose".\nSo it is.'}]
    return analyses_given + [
        {"side": "option", "field": f"F{n}", "text": favours(one)} for n, one in enumerate(answers)
    ]


def said(message, sample=SAMPLE, seed=0, **rates):
    return Panel().reply(asked([Message("system", "You are a specialist."), message], sample, seed=seed, **rates)).text


STAGES = {
    "experts": [
        ask("convene_question", wanted=3),
        ask("convene_option", wanted=1),
        ask("convene_option", OPEN, wanted=2),
    ],
    "report": [ask("report", analyses=analyses("A. liver"))],
    "vote": [ask("vote", report=standing("x"), field="Surgery")],
    "advice": [ask("advise", report=standing("x"), field="Surgery")],
    "revision": [ask("revise", report=standing("x"), advice=[])],
    "decision": [ask("decide", material=standing("x")), ask("decide", OPEN, material=standing("x", OPEN))],
    None: [
        ask("analyse_question", field="Surgery"),
        ask("analyse_option", field="Surgery", analyses=()),
        *(
            load(name).user("problem", problem=one.problem, held="")
            for name in ("direct", "cot")
            for one in (SAMPLE, OPEN)
        ),
    ],
}


@each_row("stage", STAGES)
def test_a_request_is_recognised_by_its_template_in_a_new_chat(stage):
    for message in STAGES[stage]:
        for opening in ([], [Message("system", "x")]):
            assert (Panel().reply(asked([*opening, message], SAMPLE)) is not None) == (stage is not None)
        assert Panel().reply(asked([message, Message("assistant", "x"), message], SAMPLE)) is None


@each_row("wanted", [1, 2, 5, 20])
def test_it_names_the_requested_number_of_fields(wanted):
    seen = {said(ask("convene_question", wanted=wanted), seed=seed) for seed in range(20)}
    for one in seen:
        read = read_experts(one, wanted)
        assert read.parsed and len(read.fields) == wanted and set(read.fields) <= set(FIELDS)
    assert len(seen) > 10


def test_a_report_favours_what_most_analyses_favour_and_of_equals_the_first():
    for given, best in {
        ("A. liver", "B. pancreas", "B. pancreas"): "B. pancreas",
        ("C. spleen", "A. liver"): "C. spleen",
    }.items():
        report = read_report(said(ask("report", analyses=analyses(*given)), None))
        assert report.parsed and report.key_knowledge == 'The finding is "high glucose".'
        assert favoured_answers(report.total_analysis) == [best]
    nothing = read_report(said(ask("report", analyses=analyses()), None))
    assert nothing.parsed and not favoured_answers(nothing.total_analysis)


@slow
@each_row(
    "favourite, competence, rate",
    [
        ("B. pancreas", 1.0, 0.0),
        ("B. pancreas", 0.0, INSISTS_WRONG),
        ("A. liver", 1.0, INSISTS_RIGHT),
        ("A. liver", 0.0, INSISTS_WRONG * 2 / 3),
        ("B) pancreas, which is right", 1.0, 0.0),
    ],
)
def test_more_competent_experts_doubt_more_often(favourite, competence, rate):
    message = ask("vote", report=standing(favours(favourite)), field="Surgery")
    votes = [read_vote(said(message, seed=seed, competence=competence)) for seed in SEEDS]
    assert all(vote.parsed for vote in votes)
    assert fmean(not vote.yes for vote in votes) == pytest.approx(rate, abs=0.03 if rate > 0.1 else 0.01)


def test_a_report_that_names_no_answer_is_doubted_unless_the_question_is_not_known():
    message = ask("vote", report=standing("Who knows?"), field="Surgery")
    assert (said(message), said(message, None)) == ("NO", "YES")


def test_advice_names_another_answer_than_the_report():
    for favourite, competence, expected in (
        ("B. pancreas", 1.0, {"A. liver", "C. spleen", "D. kidney"}),
        ("A. liver", 1.0, {"B. pancreas"}),
        ("A. liver", 0.0, {"C. spleen", "D. kidney"}),
    ):
        message = ask("advise", report=standing(favours(favourite)), field="Surgery")
        seen = {one for seed in range(60) for one in favoured_answers(said(message, seed=seed, competence=competence))}
        assert seen == expected
    assert said(message, None).startswith("Revisions: ")


def revised(report, *advice):
    given = [{"field": "F", "text": f"Revisions: change it.\n{favours(one)}"} for one in advice]
    return favoured_answers(
        read_report(said(ask("revise", report=standing(report), advice=given), None)).total_analysis
    )


def test_a_revision_follows_most_of_the_advice_or_keeps_what_stands():
    stands = favours("A. liver")
    assert revised(stands, "B. pancreas") == ["B. pancreas"]
    assert revised(stands, "B. pancreas", "C. spleen") == ["A. liver"]
    assert revised(stands, "B. pancreas", "C. spleen", "B. pancreas") == ["B. pancreas"]
    assert revised("Nothing.", "B. pancreas", "C. spleen") == ["B. pancreas"] and revised("Nothing.") == []


def test_the_decision_follows_what_it_is_shown():
    for material, sample, answer in (
        (standing(favours("C. spleen")), SAMPLE, "Option: C"),
        (standing(favours("maybe"), OPEN), OPEN, "Answer: maybe"),
        (
            PROMPTS.render("analyses", **shown(SAMPLE), analyses=analyses("A. liver", "D. kidney", "D. kidney")),
            SAMPLE,
            "Option: D",
        ),
        (standing("Nothing."), SAMPLE, "Option: B"),
        (standing("Nothing.", OPEN), OPEN, "Answer: no"),
    ):
        assert said(ask("decide", sample, material=material), sample) == answer
    lost = [said(ask("decide", material=standing("Nothing.")), seed=seed, competence=0.5) for seed in range(400)]
    assert fmean(one == "Option: B" for one in lost) == pytest.approx(0.5, abs=0.08)
    assert said(ask("decide", material=standing("Nothing.")), None) == "Option: not known"


@slow
def test_malformed_replies_come_at_every_stage_at_their_rate():
    core = made([SAMPLE, OPEN], malformed=0.3)
    for messages in (one for stage in STAGES.values() for one in stage[:2]):
        found = [core.reply([messages], (), seed).message.text for seed in range(300)]
        assert fmean(one.startswith("I would use the next tool") for one in found) == pytest.approx(0.3, abs=0.08)


NASTY = (
    "",
    "Most plausible: ",
    "Most plausible:\nRevisions:",
    "Analysis 1, of the x:\nAnalysis 2, of the y:\n",
    "Revisions:" * 50,
)


def test_no_prompt_content_makes_it_raise():
    core = made([SAMPLE, OPEN], competence=0.5)
    for text, sample, seed in product(NASTY, (SAMPLE, OPEN), range(3)):
        one = {"side": "option", "field": text, "text": text}
        for message in (
            ask("convene_option", sample, wanted=40),
            ask("analyse_question", sample, field=text),
            ask("analyse_option", sample, field=text, analyses=[one]),
            ask("report", analyses=[one]),
            ask("vote", report=standing(text, sample), field=text),
            ask("advise", report=standing(text, sample), field=text),
            ask("revise", report=standing(text, sample), advice=[one]),
            ask("decide", sample, material=text),
        ):
            assert core.reply([message], (), seed).message.text


def voice(side, sample=SAMPLE, opening=()):
    values = {"field": "Surgery", "analyses": ()}
    request = asked([Message("system", "You."), *opening, ask(f"analyse_{side}", **values)], sample)
    return request, Panel().voice(request)


def test_an_expert_on_the_question_quotes_it_and_names_no_answer():
    request, expert = voice("question")
    text = expert.worded("B. pancreas", request.draws)
    assert "Surgery" in text and '"A man has a high glucose."' in text
    assert not favoured_answers(text) and not any(one in text for one in CHOICES.values())
    assert expert.serves(request.knowledge, text)
    assert "nothing that is known" in voice("question", None)[1].worded("", request.draws)


def test_an_expert_on_the_answers_names_the_one_it_believes_in():
    request, expert = voice("option")
    text = expert.worded("B. pancreas", request.draws)
    assert favoured_answers(text) == ["B. pancreas"] and "Ruled out: A. liver; C. spleen" in text
    assert expert.serves(request.knowledge, text)
    assert not expert.serves(request.knowledge, expert.worded("A. liver", request.draws))
    assert not favoured_answers(expert.worded("", request.draws))
    spoken = [Message("user", "Which organ?"), Message("assistant", "?")]
    assert voice("option", opening=spoken)[1] is None
    assert Voice().worded("B. pancreas", request.draws) == "B. pancreas" and isinstance(expert, Expert)


@each_row("sample", [SAMPLE, OPEN, *ALL[::16]])
def test_opinions_stay_right_or_wrong_after_they_are_written_and_read(sample):
    for known, seed in product((True, False), range(8)):
        request = asked([Message("user", "x")], sample, seed=seed)
        (read,) = favoured_answers(
            f"Some words.\nMost plausible: {request.knowledge.opinion(known, request.draws)}\nMore."
        )
        assert request.knowledge.is_right(read) == known
