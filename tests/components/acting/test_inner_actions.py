import sqlite3
from contextlib import closing
from dataclasses import dataclass

import pytest

from components.acting.inner_actions import INNER, PLAN, THINK, Inputs, preloadable
from components.core.errors import ToolError
from components.core.tools import Tool
from components.core.types import Problem
from components.files.attachments import SampleFiles


def test_plan_and_think_are_pure_inner_tools():
    assert [tool.spec.name for tool in INNER] == ["Plan", "Think"]
    assert all(isinstance(tool, Tool) and tool.effect == "pure" for tool in INNER)
    assert all(tool.spec.facts == {"dimension": "inner"} for tool in INNER)


async def test_any_text_is_accepted():
    assert (await PLAN(None)).text == (await THINK(None, response=["a", "b"], step=2)).text == "OK"


def test_no_parameter_is_required_or_refused():
    for tool in INNER:
        assert tool.spec.parameters["additionalProperties"] and "required" not in tool.spec.parameters
        assert list(tool.spec.parameters["properties"]) == ["response"]


@dataclass
class Desk:
    problem: Problem
    state: SampleFiles


async def test_schema_and_documents_stand_one_after_the_other(tmp_path):
    with closing(sqlite3.connect(tmp_path / "ward.sqlite")) as database:
        database.execute("create table patients (id integer, name text)")
    letters = tmp_path / "letters"
    letters.mkdir()
    (letters / "b.txt").write_text("second")
    (letters / "a.txt").write_text("first\n")
    problem = Problem("p", "q", inputs={"sql_database": "ward", "upload_files": "letters"})
    files = SampleFiles({"ward": tmp_path / "ward.sqlite", "letters": letters})
    seen = await Inputs()(Desk(problem, files))
    assert seen.text == "Tables of the database ward:\npatients(id, name)\n\n[a.txt]\nfirst\n\n[b.txt]\nsecond"
    assert preloadable(problem) and not preloadable(Problem("p", "q", inputs={"image": "x.png"}))


async def test_a_lost_file_is_named(tmp_path):
    problem = Problem("p", "q", inputs={"upload_files": "letters"})
    with pytest.raises(ToolError, match="letters"):
        await Inputs()(Desk(problem, SampleFiles({})))
