from collections import Counter
from dataclasses import replace

import pytest

from components.core.errors import OVERFLOW, LimitReached, ModelError
from components.core.messages import Image
from components.core.types import Answer, Failure, Problem, Sample
from components.panel.agent import Lengths, MedAgents
from runner.config.build import construct
from runner.config.errors import ConfigErrors
from runner.episode.budget import Attempt as Spends
from runner.episode.budget import Budget
from runner.episode.episode import run_episode
from tests.attempts import Attempt, Echo
from tests.panels import QUESTION, SAYS, Script, calls_needed, panel, votes
from tests.parts import door
from tests.table import each_row

NODE = {"_target_": "components.panel.agent.MedAgents"}


@each_row(
    "given, message",
    [
        ({"question_experts": 0}, "agent.question_experts"),
        ({"level": "everything"}, "analysis, consultation, summary"),
        ({"max_tokens": {"vote": "few"}}, "agent.max_tokens.vote"),
        ({"max_tokens": {"votes": 3}}, "vote"),
        ({"readers": "mine"}, "published, repaired"),
    ],
)
def test_a_panel_that_cannot_be_is_refused_by_name(given, message):
    with pytest.raises(ConfigErrors) as error:
        construct({**NODE, **given}, "agent")
    assert message in str(error.value)


def test_limits_of_replies_may_be_left_to_the_model():
    assert construct({**NODE, "max_tokens": {"vote": None}}, "agent").max_tokens.vote is None


PLAIN = MedAgents(expert_tools=False)


async def test_votes_see_the_latest_report_and_key_knowledge_stays_in_it():
    _, model, _ = await panel(Script((1, 0)), PLAIN)
    first, second = (
        [r.messages[-1].text for r in model.requests if r.branch.startswith(f"round/{n}/") and r.purpose == "vote"]
        for n in (1, 2)
    )
    assert all("Biopsy is most plausible" in text and "tumours need tissue" in text for text in first)
    assert all("Biopsy, since rest does not help" in text and "tumours need tissue" in text for text in second)
    assert not any("Biopsy is most plausible" in text for text in second)


async def test_only_the_advice_of_the_same_round_reaches_a_revision():
    says = {"reflect": lambda request: f"Revisions: advice of round {request.branch.split('/')[1]}"}
    _, model, _ = await panel(Script((2, 3, 0), says), PLAIN)
    asked = [request.messages[-1].text for request in model.requests if request.purpose == "report"]
    assert [text.count("advice of round 1") for text in asked] == [2, 0]
    assert [text.count("advice of round 2") for text in asked] == [0, 3]


async def test_each_stage_sees_only_its_permitted_material_and_never_the_answer():
    _, model, _ = await panel(Script((7, 7, 7)), PLAIN, target="the secret key")
    for request in model.requests:
        text = "\n".join(message.text for message in request.messages)
        assert "secret" not in text
        shows = "A) Biopsy" in text
        on_question = request.branch in ("convene/1", *(f"expert/{n}" for n in range(1, 6)))
        assert shows == (not on_question and request.purpose != "summarise")
        assert len(request.messages) == (1 if request.purpose in ("report", "answer") else 2)
    experts = [request.messages[-1].text for request in model.requests if request.branch in ("expert/6", "expert/7")]
    assert all(text.count("It looks like a tumour.") == 5 for text in experts)


async def test_replies_are_limited_by_their_kind():
    _, model, _ = await panel(Script((1, 0)), PLAIN)
    lengths = {request.purpose: request.sampling.max_tokens for request in model.requests}
    assert lengths == {
        "plan": 50, "knowledge": 300, "summarise": 2500, "vote": 30, "reflect": 500, "report": 2500, "answer": 2500,
    }  # fmt: skip
    _, model, _ = await panel(agent=replace(PLAIN, max_tokens=Lengths(None, None, None, None, None, None)))
    assert {request.sampling.max_tokens for request in model.requests} == {None}


async def test_steps_stand_in_the_order_of_the_discussion_and_say_who_spoke():
    _, _, trajectory = await panel(Script((1, 0)), PLAIN)
    labels = [step.remarks["label"] for step in trajectory.steps]
    assert labels[:2] == [
        "experts on the question: Surgery, Oncology, Radiology, Genetics, Dentistry",
        "experts on the options: Surgery, Oncology",
    ]
    assert labels[2] == "analysis of the question: Surgery" and labels[8] == "analysis of the options: Oncology"
    assert labels[9:13] == [
        "report, version 0", "round 1, Surgery: no", "round 1, Surgery: advice", "round 1, Oncology: yes",
    ]  # fmt: skip
    assert labels[18:20] == ["report, version 1", "round 2, Surgery: yes"] and labels[-1] == "decision"


async def test_a_field_on_both_sides_votes_twice():
    _, _, trajectory = await panel(Script(says={"plan": "Medical Field: Surgery"}), PLAIN)
    cast = [step.remarks for step in trajectory.steps if step.purpose == "vote"]
    assert [(one["expert"], one["side"], one["field"]) for one in cast] == [
        (0, "question", "Surgery"), (1, "option", "Surgery"),
    ]  # fmt: skip


SEEN = {  # stage -> what its prompt shows next to the question
    "convene/1": ["cannot swallow", "field | field | field | field | field"],
    "convene/2": ["cannot swallow", "A) Biopsy", "field | field"],
    "expert/2": ["cannot swallow", "Oncology"],
    "expert/7": ["cannot swallow", "A) Biopsy", "Oncology", "Surgery: It looks", "Dentistry: It looks"],
    "summarise": ["Surgery:\nIt looks", "Oncology:\nIt looks", "Analysis 7"],
    "vote": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery"],
    "reflect": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery"],
    "report": ["cannot swallow", "A) Biopsy", "tumours need tissue", "Surgery: Revisions: say why."],
    "answer": ["cannot swallow", "A) Biopsy", "rest does not help", "tumours need tissue"],
}


@each_row("level", ["analysis", "summary", "consultation"])
async def test_each_prompt_shows_all_that_its_stage_may_see(level):
    _, model, _ = await panel(Script((1, 0)), replace(PLAIN, level=level), inputs="THE DOCUMENT")
    found = {}
    for request in model.requests:
        found.setdefault(request.branch if request.branch in SEEN else request.purpose, request)
    for stage, parts in SEEN.items():
        request = found.get(stage)
        if request is None:
            assert level != "consultation"
            continue
        if stage == "answer" and level != "consultation":
            parts = [*parts[:2], *(["Analysis of the question, Surgery", "Analysis of the possible answers, Oncology"]
                                   if level == "analysis" else ["Biopsy is most plausible"])]  # fmt: skip
        text = "\n".join(message.text for message in request.messages)
        assert [part for part in parts if part not in text] == [], stage
        assert ("THE DOCUMENT" in text) == (stage != "summarise"), stage


async def test_the_requested_number_of_experts_is_that_of_the_panel():
    _, model, _ = await panel(agent=replace(PLAIN, question_experts=3, option_experts=1))
    first, second = (request.messages[-1].text for request in model.requests[:2])
    assert "exactly 3 different" in first and "field | field | field" in first
    assert "Name the one" in second and second.endswith("Medical Field: field")


async def test_a_revision_without_words_leaves_the_analysis_as_it_was():
    _, model, _ = await panel(Script((1, 0), {"report": ""}), PLAIN)
    assert "Total Analysis: Biopsy is most plausible." in model.requests[-1].messages[-1].text


async def test_attachments_are_shown_once_to_tool_using_experts():
    says = {"act": 'Action: Finish[{"response": "Biopsy."}]'}
    _, model, _ = await panel(Script(says=says), MedAgents(), tool=Echo(), inputs="THE DOCUMENT")
    acting = next(request for request in model.requests if request.purpose == "act")
    assert sum(message.text.count("THE DOCUMENT") for message in acting.messages) == 0, "a document is for tools"
    decision = model.requests[-1].messages[-1].text
    assert decision.count("THE DOCUMENT") == 1


@each_row("asked, ends", [("Was nun？", "Was nun？"), ("Is it so…", "so…"), ("50 %", "50 %"), ("So", "So?")])
async def test_a_mark_of_any_script_ends_a_question(asked, ends):
    _, model, _ = await panel(agent=PLAIN, problem=replace(QUESTION, question=asked, context=""))
    assert model.requests[0].messages[-1].text.split("\n")[0].endswith(ends)


def purposes(model):
    return Counter(request.purpose for request in model.requests)


@each_row(
    "doubts, calls, rounds",
    [((), 18, 1), ((2, 0), 28, 2), ((1, 0), 27, 2), ((7, 7, 7), 56, 3), ((0, 7), 18, 1), ((1, 1, 1), 38, 3)],
)
async def test_the_calls_are_those_of_the_formula(doubts, calls, rounds):
    outcome, model, trajectory = await panel(Script(doubts), PLAIN)
    assert outcome == Answer("A") and len(model.requests) == len(trajectory.steps) == calls
    dissents = [one.count("no") for one in votes(trajectory)]
    assert len(dissents) == rounds and calls == calls_needed("consultation", 5, 2, dissents)
    assert all(len(one) == 7 for one in votes(trajectory))


@each_row("doubts, calls", [((), 16), ((6, 6, 6), 49)])
async def test_a_panel_of_four_and_two_needs_fewer(doubts, calls):
    _, model, _ = await panel(Script(doubts), replace(PLAIN, question_experts=4))
    assert len(model.requests) == calls


@each_row("level, calls", [("analysis", 10), ("summary", 11)])
async def test_levels_leave_out_report_and_votes(level, calls):
    _, model, _ = await panel(Script((7, 7, 7)), replace(PLAIN, level=level))
    assert len(model.requests) == calls == calls_needed(level, 5, 2)
    last = model.requests[-1].messages[-1].text
    assert ("It looks like a tumour." in last) == (level == "analysis")
    assert ("Key Knowledge: tumours need tissue." in last) == (level == "summary")


async def test_endless_dissent_ends_with_the_last_revision_unvoted():
    says = {"report": lambda request: f"Total Analysis: revision of {request.messages[-1].text.count('revision') + 1}"}
    _, model, trajectory = await panel(Script((7, 7, 7), says), PLAIN)
    assert purposes(model) == {
        "plan": 2, "knowledge": 7, "summarise": 1, "vote": 21, "reflect": 21, "report": 3, "answer": 1,
    }  # fmt: skip
    assert trajectory.steps[-2].purpose == "report" and trajectory.steps[-2].reply.text.split(": ")[1] in (
        model.requests[-1].messages[-1].text
    )


async def test_the_question_ends_with_a_mark_and_stands_under_its_context():
    _, model, _ = await panel(agent=PLAIN)
    assert "He smokes.\n\nA man of 40 cannot swallow. What comes next?" in model.requests[0].messages[-1].text
    asked = replace(QUESTION, question="Is it so:")
    _, model, _ = await panel(agent=PLAIN, problem=asked)
    assert "Is it so:\n" in model.requests[0].messages[-1].text


async def test_nonsense_replies_give_a_default_vote_no_analysis_and_a_general_expert():
    def plan(request):
        return "ERROR." if request.branch == "convene/2" else "Medical Field: Surgery"

    says = {"plan": plan, "knowledge": "", "vote": "perhaps", "answer": "I cannot tell."}
    outcome, model, trajectory = await panel(Script(says=says), PLAIN)
    assert outcome == Answer("I cannot tell.") and len(model.requests) == 8 == calls_needed("consultation", 1, 1, [0])
    remarks = [step.remarks for step in trajectory.steps]
    assert [one["parsed"] for one in remarks if one["stage"] == "vote"] == [False, False]
    assert [one["missing"] for one in remarks if one["stage"] == "analysis"] == [True, True]
    assert [(one["fields"], one["parsed"]) for one in remarks if one["stage"] == "experts"] == [
        (["Surgery"], True), (["General Medicine"], False),
    ]  # fmt: skip


@each_row("purpose", ["plan", "knowledge", "summarise", "vote", "reflect", "report", "answer"])
async def test_a_model_error_at_any_stage_ends_the_episode_unscored_and_keeps_the_record(purpose):
    def fail(request):
        return ModelError("the server is gone", "server")

    attempt = Attempt(QUESTION, "A")
    _, model, _ = attempt.episode(Script((1, 0), {purpose: fail}), None, PLAIN)
    episode, _, _ = attempt.episode(Script(), None, PLAIN)
    trajectory, scores = await run_episode(
        replace(episode.shared.parts, agent=PLAIN), door(model), Sample(QUESTION, "A"), 0
    )
    assert trajectory.stop == "error" and "server is gone" in trajectory.error and scores == []
    assert {step.purpose for step in trajectory.steps}.isdisjoint({purpose})


async def test_a_stage_is_asked_completely_or_not_at_all():
    attempt = Attempt(QUESTION, "A")
    episode, model, trajectory = attempt.episode(Script(), None, PLAIN)
    episode.attempt = Spends(Budget(calls=6))
    with pytest.raises(LimitReached, match="calls=6"):
        await PLAIN.solve(episode)
    assert len(trajectory.steps) == len(model.requests) == 2


async def test_open_questions_are_decided_in_words():
    outcome, model, _ = await panel(
        Script(says={"answer": "Answer: a torn tendon"}), PLAIN, problem=Problem("o", "What?")
    )
    assert outcome == Answer("a torn tendon")
    assert "Option:" not in model.requests[-1].messages[-1].text


async def test_experts_act_with_tools_each_in_an_attempt_of_its_own():
    def act(request):
        last = request.messages[-1].text
        said = "echo of " in last
        return 'Action: Finish[{"response": "Biopsy, says the echo."}]' if said else 'Action: echo[{"query": "x"}]'

    outcome, model, trajectory = await panel(Script(says={"act": act}), MedAgents(), tool=Echo())
    assert outcome == Answer("A") and purposes(model)["act"] == 14 and purposes(model)["knowledge"] == 0
    report = next(request for request in model.requests if request.purpose == "summarise").messages[-1].text
    assert report.count("Biopsy, says the echo.") == 7
    role = next(request for request in model.requests if request.branch == "expert/1").messages
    assert "specialist in Surgery" in role[0].text and "Do not settle on an answer yet" in role[1].text
    analyses = [step.remarks for step in trajectory.steps if step.remarks.get("stage") == "analysis"]
    assert len(analyses) == 7 and not any(one["missing"] for one in analyses)


async def test_an_expert_who_never_ends_has_no_analysis():
    says = {"act": 'Action: echo[{"query": "x"}]'}
    outcome, model, trajectory = await panel(Script(says=says), MedAgents(max_steps=2), tool=Echo())
    assert outcome == Answer("A") and purposes(model)["act"] == 14
    assert all(step.remarks["missing"] for step in trajectory.steps if step.remarks.get("stage") == "analysis")


async def test_published_readers_lose_key_knowledge_and_stop_at_a_report_without_heading():
    published = replace(PLAIN, readers="published")
    _, model, _ = await panel(agent=published)
    assert not any("tumours need tissue" in r.messages[-1].text for r in model.requests if r.purpose == "vote")
    outcome, model, trajectory = await panel(Script(says={"summarise": "Biopsy."}), published)
    assert isinstance(outcome, Failure) and outcome.label == "unreadable_report"
    assert trajectory.steps[-1].remarks["stage"] == "report"


async def test_images_that_no_expert_can_see_do_not_score_zero():
    problem = replace(QUESTION, images=(Image("data:image/png;base64,"),), inputs={"image": "x.png"})
    outcome, _, _ = await panel(agent=PLAIN, problem=problem, vision=False)
    assert isinstance(outcome, Failure) and outcome.label == "unsupported_input"


async def test_an_expert_without_tools_whose_question_is_too_long_ends_the_panel():
    def say(request):
        if request.branch == "expert/2":
            raise ModelError("too long", OVERFLOW)
        return SAYS["knowledge"]

    with pytest.raises(ModelError):
        await panel(Script(says={"knowledge": say}), PLAIN)


async def test_a_tool_using_expert_that_exceeds_the_window_gives_no_analysis():
    def say(request):
        if request.branch == "expert/2":
            raise ModelError("too long", OVERFLOW)
        return 'Action: Finish[{"response": "It looks like a tumour."}]'

    outcome, _, trajectory = await panel(Script(says={"act": say}), MedAgents(), tool=Echo())
    assert outcome == Answer("A")
    assert not any(step.branch == "expert/2" for step in trajectory.steps)
