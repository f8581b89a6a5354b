"""The outcome of an episode, derived from the steps of any agent."""

from components.core.messages import Message, ToolCall, Usage
from components.core.types import Action, Observation, Observed, Step, Trajectory
from components.ehr.outcome import Outcome
from tests.table import each_row


def cell(status, text="3", **facts):
    error = None if status == "ok" else status
    return Observed(ToolCall("c", "python", "{}"), Observation(text, {"status": status, **facts}), error)


def acted(error=None, text="done"):
    return Observed(ToolCall("a", "LoadDB", "{}"), Observation(text), error)


def step(*observed, text="", purpose="act", remarks=None, error=None, committed=True):
    message = Message("assistant", text)
    action = Action(message, error=error, error_text="?") if purpose in ("act", "verify") else None
    found = Step(purpose, "main", "main", 0, 0, (), message, Usage(1, 1, 0.0), action=action, committed=committed)
    found.observed, found.remarks = list(observed), dict(remarks or {})
    return found


def outcome(*steps, stop="answered", answer="3"):
    return Outcome(Trajectory(list(steps), stop=stop, answer=answer if stop == "answered" else None))


TERMINATED = {"terminated": True}


@each_row(
    "found, ended, completed",
    [
        (outcome(step(cell("ok")), step(text="TERMINATE", remarks=TERMINATED)), True, True),
        (outcome(step(cell("error")), step(cell("ok"), remarks=TERMINATED)), True, True),
        (outcome(step(cell("no_answer")), step(remarks=TERMINATED), stop="failed"), True, False),
        (outcome(step(cell("ok")), step(cell("timeout"), remarks=TERMINATED)), True, False),
        (outcome(step(cell("ok"), remarks={"terminated": False}), stop="failed"), False, False),
        (outcome(step(cell("ok"), remarks={"terminated": False})), False, False),
        (outcome(step(cell("ok")), stop="limit"), False, False),
        (outcome(step(acted()), step(text="Finish[3]")), True, True),
        (outcome(step(acted()), step(acted("no_rows")), step(text="Finish[3]")), True, False),
        (outcome(step(text="3", purpose="answer")), True, True),
        (outcome(stop="refused"), True, True),
        (outcome(step(acted("unknown_table"), remarks={"draw": 5, "read": None})), True, False),
        (outcome(step(acted()), step(acted("no_rows"), committed=False)), True, True),
        (outcome(stop="error"), False, False),
    ],
)
def test_an_episode_is_completed_where_the_agent_ended_it_and_nothing_failed_last(found, ended, completed):
    assert (found.ended, found.completed) == (ended, completed)


def test_there_is_no_prediction_where_the_agent_did_not_end_the_episode_itself():
    assert outcome().answer == "3"
    assert outcome(step(remarks={"terminated": False})).answer is None
    assert outcome(stop="refused").answer is None


def test_executions_are_cells_actions_and_calls_that_could_not_be_read():
    control = Observed(ToolCall("control", "metadata", ""), Observation(""), control=True)
    steps = (
        step(control, purpose="knowledge"), step(cell("ok"), acted()), step(cell("no_answer"), cell("killed")),
        step(error="bad_arguments"), step(error="unparsable_reply"), step(acted("empty"), purpose="plan"),
    )  # fmt: skip
    found = outcome(*steps)
    assert (found.executions, found.failed) == (6, 3)
    assert outcome(*steps, step(remarks={"executions": 7})).executions == 7


@each_row(
    "found, searched",
    [
        (outcome(step(cell("ok")), step(text="So it is 5. TERMINATE later")), "3\nSo it is 5. "),
        (outcome(step(cell("ok"), text="answer = 5\nTERMINATE")), "3"),
        (outcome(step(cell("ok")), step(text="So it is 5. TERMINATE", purpose="verify")), "3\nSo it is 5. "),
        (outcome(step(cell("error", "KeyError 5")), step(text="TERMINATE"), stop="failed"), "KeyError 5\n"),
        (outcome(stop="limit"), ""),
    ],
)
def test_the_published_judge_looks_at_the_last_result_and_the_closing_words(found, searched):
    assert found.searched == searched


def on(branch, *observed, **remarks):
    found = step(*observed, remarks=remarks)
    found.branch = branch
    return found


def test_of_drawn_answers_the_chosen_draw_decides_the_ending_and_all_are_counted():
    drawn = outcome(
        on("draw/1", cell("ok"), draw=1, terminated=True, executions=1, sql="select 1", chosen=True),
        on("draw/10", cell("error"), draw=10, terminated=False, executions=3, sql="select 2"),
    )
    assert drawn.ended and drawn.completed and drawn.answer == "3" and drawn.remarked("sql") == "select 1"
    assert drawn.executions == 4 and drawn.failed == 1


def test_failures_are_distinguished_by_kind():
    kinds = outcome(
        step(acted("unknown_table"), acted("bad_arguments"), acted()),
        step(cell("error", error={"kind": "no_such_value", "type": "EhrError"})),
        step(cell("error", error={"kind": "", "type": "KeyError"})),
        step(cell("timeout", error={"kind": "", "type": "Timeout"})),
        step(cell("no_answer")),
    ).failures
    assert kinds == {"unknown_table": 1, "other": 1, "no_such_value": 1, "exception": 1, "limit": 1}
