"""The first difference between two runs is one line with sample and call; times are not compared."""

from copy import deepcopy

from runner.bundle.differences import first_difference, metrics_difference
from tests.table import each_row

STEP = {
    "branch": "main", "n": 1, "purpose": "act", "started": 0.1, "seconds": 0.2, "kept": 0,
    "asked": [{"role": "user", "text": "What?", "source": "mine/ask.jinja"}], "reply": {"role": "assistant", "text": "A"},
    "observed": [{"call": 0, "text": "seen", "seconds": 0.1}],
}  # fmt: skip
RECORD = {"sample_id": "x", "epoch": 0, "stop": "answered", "seconds": 1.0, "scores": {"right": 1.0}, "steps": [STEP]}
CALL = "sample 'x', epoch 0, branch 'main', call 1 (act): "


def test_times_and_finishing_order_are_not_differences():
    other = deepcopy(RECORD) | {"seconds": 9.0}
    other["steps"][0] |= {"started": 5.0, "seconds": 6.0}
    other["steps"][0]["observed"][0]["seconds"] = 7.0
    second = deepcopy(RECORD) | {"sample_id": "y"}
    assert first_difference([RECORD, second], [second, other]) == ""


@each_row(
    "path, value, message",
    [
        (("steps", 0, "reply", "text"), "B", CALL + "the reply differs: reply text was 'A', is 'B'"),
        (("steps", 0, "asked", 0, "text"), "Who?", CALL + "the request differs: asked 0 text was 'What?', is 'Who?'"),
        (("steps", 0, "observed", 0, "text"), "un", CALL + "the observation differs: observed 0 text was 'seen', is 'un'"),
        (("steps", 0, "kept"), 3, CALL + "kept was 0, is 3"),
        (("steps",), [], CALL + "there were 1 calls, there are 0"),
        (("scores", "right"), 0.0, "sample 'x', epoch 0: scores right was 1.0, is 0.0; its 1 calls are the same"),
        (("sample_id",), "z", "sample 'x', epoch 0 was run before, but not now"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(path, value, message):
    other = deepcopy(RECORD)
    node = other
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
    assert first_difference([RECORD], [other]) == message


def test_custom_prompt_set_may_have_another_name():
    other = deepcopy(RECORD)
    other["steps"][0]["asked"][0]["source"] = "/tmp/own/ask.jinja"
    assert "source" in first_difference([RECORD], [other])
    assert first_difference([RECORD], [other], {"/tmp/own": "mine"}) == ""


@each_row(
    "now, message",
    [
        ({"metrics": {"a": 1, "time/p50": 3}, "strata": {}}, ""),
        ({"metrics": {"a": 2, "time/p50": 2}, "strata": {}}, "metric a was 1, is 2"),
        ({"metrics": {"a": 1, "b": 2, "time/p50": 2}, "strata": {}}, "metric b was None, is 2"),
        (
            {"metrics": {"a": 1, "time/p50": 2}, "strata": {"s": {}}},
            "the metrics by strata differ: strata s was None, is {}",
        ),
    ],
)
def test_all_metrics_except_times_are_compared(now, message):
    assert metrics_difference({"metrics": {"a": 1, "time/p50": 2}, "strata": {}}, now) == message
