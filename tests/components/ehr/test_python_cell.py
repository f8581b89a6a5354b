from dataclasses import replace
from types import SimpleNamespace

import pytest

from components.core.errors import ToolError
from components.ehr.actions import PythonCell
from components.sandbox import CellError, Ran
from tests.table import each_row

ERROR = CellError("KeyError", "", "'x'", 2, "answer = d['x']", "Traceback ...")
LIMIT = CellError("Timeout", "", "the cell ran longer than 2 s")


class Runs:
    """A state whose cells end as scripted."""

    def __init__(self, ran):
        self.ran = ran

    async def run(self, cell):
        return self.ran


CELL = PythonCell()


async def called(ran, tool=CELL, **arguments):
    return await tool(SimpleNamespace(state=Runs(ran)), **(arguments or {"cell": "answer = 1"}))


async def test_the_answer_is_shown_up_to_its_limit_and_kept_whole():
    seen = await called(Ran("ok", "x" * 5000, "printed", None, 0.1))
    assert seen.text == "x" * 4000 and seen.data["answer"] == "x" * 5000 and seen.data["output"] == "printed"
    assert (await called(Ran("ok", "xyz"), PythonCell(shown=2))).text == "xy"


async def test_an_unassigned_answer_is_not_a_failure():
    seen = await called(Ran("no_answer"))
    assert "nothing was assigned to the variable `answer`" in seen.text and seen.data["status"] == "no_answer"


FAILED = {
    "error": (ERROR, "failed in line 2 with KeyError: 'x'. The line reads: answer = d['x']"),
    "error without a line": (replace(ERROR, line_no=None, message=""), "failed with KeyError. Mend"),
    "error without a cause": (None, "ended without a result"),
    "timeout": (LIMIT, "was stopped: the cell ran longer than 2 s. Find"),
    "killed": (LIMIT, "was stopped: the cell ran longer than 2 s. Find"),
    "too_large": (LIMIT, "was stopped: the cell ran longer than 2 s. Assign"),
}


@each_row("status, case", FAILED.items())
async def test_a_failure_is_reported_in_a_sentence_with_its_status_as_the_label(status, case):
    error, words = case
    status = status.split()[0]
    with pytest.raises(ToolError) as raised:
        await called(Ran(status, "", "", error))
    assert words in " ".join(str(raised.value).split()) and raised.value.label == status
    assert raised.value.data["status"] == status and raised.value.data["error"] == (
        None if error is None else vars(error)
    )


@each_row("arguments", [{"cell": ""}, {"cell": 3}, {"cell": " \n"}])
async def test_a_call_without_code_is_reported(arguments):
    with pytest.raises(ToolError, match="the text of the code to run"):
        await called(Ran("ok"), **arguments)


async def test_a_state_without_a_sandbox_is_a_configuration_error():
    with pytest.raises(TypeError, match="found object"):
        await PythonCell()(SimpleNamespace(state=object()), cell="answer = 1")


def test_the_card_names_the_functions_where_the_prompt_does_not():
    assert "LoadDB(name)" in PythonCell().spec.description
    assert "LoadDB" not in PythonCell(described=False).spec.description
