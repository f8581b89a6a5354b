"""The process that runs cells, without anything around it."""

import pytest

from components.sandbox.api import Limits
from components.sandbox.raised import Clean
from components.sandbox.worker import Cells, Settings

SETTINGS = Settings(Limits(answer_bytes=100), keep=True, tier="namespaces", scratch="/", rehearsal="", clean=Clean({}))


@pytest.mark.parametrize(
    ("cell", "status"),
    [("answer = given", "ok"), ("x = 1", "no_answer"), ("answer = 'x' * 101", "too_large"), ("1 / 0", "error")],
)
def test_a_cell_ends_with_one_result(cell, status):
    assert Cells({"given": 1}, SETTINGS).run(cell).status == status


def test_an_answer_is_not_left_over_and_lines_are_those_of_the_cell_that_runs():
    cells = Cells({}, SETTINGS)
    cells.run("answer = 1\n\ndef f():\n    1 / 0")
    assert cells.run("x = 1").status == "no_answer"
    error = cells.run("\nf()").error
    assert (error.type, error.line_no, error.line) == ("ZeroDivisionError", 2, "f()")
    assert 'File "<cell>", line 4, in f\n    1 / 0' in error.traceback


def test_builtins_that_a_cell_changed_come_back():
    cells = Cells({}, SETTINGS)
    assert cells.run("import builtins\nbuiltins.str = lambda _: 'forged'\nanswer = 1").answer == "1"
    assert cells.run("answer = str(2)").answer == "2"
