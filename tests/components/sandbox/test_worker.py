"""The process that runs cells, without anything around it."""

from dataclasses import replace

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
    assert Cells({"given": 1}, SETTINGS).run(cell, bool).status == status


def test_an_answer_is_not_left_over_and_lines_are_those_of_the_cell_that_runs():
    cells = Cells({}, SETTINGS)
    cells.run("answer = 1\n\ndef f():\n    1 / 0", bool)
    assert cells.run("x = 1", bool).status == "no_answer"
    error = cells.run("\nf()", bool).error
    assert (error.type, error.line_no, error.line) == ("ZeroDivisionError", 2, "f()")
    assert 'File "<cell>", line 4, in f\n    1 / 0' in error.traceback


def test_builtins_that_a_cell_changed_come_back():
    cells = Cells({}, SETTINGS)
    assert cells.run("import builtins\nbuiltins.str = lambda _: 'forged'\nanswer = 1", bool).answer == "1"
    assert cells.run("answer = str(2)", bool).answer == "2"


@pytest.mark.parametrize(
    ("cell", "stays"),
    [("answer = given", True), ("import json", False), ("1 / 0", True), ("x = (", True), ("exec('1 / 0')", False)],
)
def test_it_is_told_before_a_cell_begins_that_no_other_may_follow(cell, stays):
    for keep in (False, True):
        told = []
        Cells({"given": 1}, replace(SETTINGS, keep=keep)).run(cell, lambda: told.append(cell))  # noqa: B023
        assert told == ([] if stays or keep else [cell])


def test_a_cell_finds_nothing_of_the_one_before_unless_it_is_kept():
    for keep, status in ((False, "error"), (True, "ok")):
        cells = Cells({"given": 1}, replace(SETTINGS, keep=keep))
        cells.run("x = 1; given = 2; del given", bool)
        assert cells.run("answer = x", bool).status == status
        assert (cells.run("answer = given", bool).status == "ok") != keep
