"""Cells in their namespace, their exceptions, and which of them can leave a trace in their process."""

import ast
import os
import sqlite3
import sys
from dataclasses import replace

from components.ehr.columns import prepare
from components.ehr.metadata import metadata
from components.sandbox import Library, Sandbox
from components.sandbox.api import Limits
from components.sandbox.worker import Cells, Clean, Settings, describe, leaves_nothing, remember
from tests.components.sandbox.processes import below
from tests.slow import slow
from tests.table import each_row

SETTINGS = Settings(Limits(answer_bytes=100), keep=True, tier="namespaces", scratch="/", rehearsal="", clean=Clean({}))


@each_row(
    "cell, status",
    [("answer = given", "ok"), ("x = 1", "no_answer"), ("answer = 'x' * 101", "too_large"), ("1 / 0", "error")],
)
def test_a_cell_ends_with_one_result(cell, status):
    assert Cells({"given": 1}, SETTINGS).run(cell, bool).status == status


def test_answers_are_not_carried_over_and_line_numbers_belong_to_the_running_cell():
    cells = Cells({}, SETTINGS)
    cells.run("answer = 1\n\ndef f():\n    1 / 0", bool)
    assert cells.run("x = 1", bool).status == "no_answer"
    error = cells.run("\nf()", bool).error
    assert (error.type, error.line_no, error.line) == ("ZeroDivisionError", 2, "f()")
    assert 'File "<cell>", line 4, in f\n    1 / 0' in error.traceback


def test_builtins_changed_by_a_cell_are_restored():
    cells = Cells({}, SETTINGS)
    assert cells.run("import builtins\nbuiltins.str = lambda _: 'forged'\nanswer = 1", bool).answer == "1"
    assert cells.run("answer = str(2)", bool).answer == "2"


@each_row(
    "cell, stays",
    [("answer = given", True), ("import json", False), ("1 / 0", True), ("x = (", True), ("exec('1 / 0')", False)],
)
def test_the_host_is_notified_before_a_cell_after_which_no_other_may_run(cell, stays):
    for keep in (False, True):
        notified = []
        Cells({"given": 1}, replace(SETTINGS, keep=keep)).run(cell, lambda: notified.append(cell))  # noqa: B023
        assert notified == ([] if stays or keep else [cell])


def test_variables_of_an_earlier_cell_are_visible_only_if_kept():
    for keep, status in ((False, "error"), (True, "ok")):
        cells = Cells({"given": 1}, replace(SETTINGS, keep=keep))
        cells.run("x = 1; given = 2; del given", bool)
        assert cells.run("answer = x", bool).status == status
        assert (cells.run("answer = given", bool).status == "ok") != keep


CASES = {
    "raised in a function": ("def f(v):\n    return 1 / v\nf(0)", "ZeroDivisionError", 2, "    return 1 / v"),
    "raised in a library": ("import json\njson.loads('{')", "JSONDecodeError", 2, "json.loads('{')"),
    "syntax": ("x = 1\ny = = 2", "SyntaxError", 2, "y = = 2"),
    "indentation": ("if True:\nx = 1", "IndentationError", 2, "x = 1"),
    "tabs": ("if True:\n\tx = 1\n        y = 2", "TabError", 3, "        y = 2"),
    "text without end": ("a = 1\nb = 'x", "SyntaxError", 2, "b = 'x"),
    "syntax of a text that the cell runs": ("a = 1\nexec('1 +')", "SyntaxError", 2, "exec('1 +')"),
    "without a message": ("raise ValueError", "ValueError", 1, "raise ValueError"),
    "an exit": ("\nraise SystemExit(3)", "SystemExit", 2, "raise SystemExit(3)"),
    "an exception of the cell's own": ("class E(BaseException): pass\nraise E('x')", "E", 2, "raise E('x')"),
    "other ends of lines": ("a = 1\r\nb = 2\rc = 1 / 0", "ZeroDivisionError", 3, "c = 1 / 0"),
    "a form feed is not a line end": ("a = '\x0c'\nb = 1 / 0", "ZeroDivisionError", 2, "b = 1 / 0"),
    "two exceptions": ("try:\n    1 / 0\nexcept Exception:\n    [][1]", "IndexError", 4, "    [][1]"),
    "a null byte": ("a = '\0'", "SyntaxError", None, ""),
    "half a character": ("a = '\ud800'", "UnicodeEncodeError", None, ""),
}


def raised(cell, clean=None, name="<cell>"):
    remember(cell, name)
    try:
        exec(compile(cell, name, "exec", dont_inherit=True), {"__name__": "__main__"})
    except BaseException as error:  # noqa: BLE001  also an exit
        return describe(error, name, clean or Clean({}))
    raise AssertionError("nothing was raised")


@each_row("name", CASES)
def test_type_and_line_are_those_of_the_cell(name):
    cell, kind, number, line = CASES[name]
    found = raised(cell)
    assert (found.type, found.line_no, found.line) == (kind, number, line)


def test_a_traceback_has_frames_of_the_cell_only():
    found = raised("import json\ndef f():\n    json.loads('{')\nf()")
    assert found.traceback == (
        "Traceback (most recent call last):\n"
        '  File "<cell>", line 4, in <module>\n    f()\n'
        "  File \"<cell>\", line 3, in f\n    json.loads('{')\n"
        f"JSONDecodeError: {found.message}"
    )
    assert sys.prefix not in found.traceback


def test_a_deep_recursion_is_cut():
    found = raised("def f(): f()\nf()")
    assert found.type == "RecursionError" and found.line_no == 1 and len(found.traceback) < 4001


def test_a_tools_kind_is_kept_where_it_is_a_text():
    assert raised("class E(Exception):\n    kind = 'no_rows'\nraise E('m')").kind == "no_rows"
    assert raised("class E(Exception):\n    kind = 3\nraise E('m')").kind == ""


def test_machine_specific_details_are_removed():
    clean = Clean({"/home/a/data": "/data", "/home/a": "/home"})
    found = raised("raise ValueError('/home/a/data/x.db', object(), '/home/a/y')", clean)
    assert found.message == "('/data/x.db', <object object at 0x...>, '/home/y')"


def test_a_long_message_is_cut():
    assert len(raised("raise ValueError('x' * 10**6)").message) == 4000


NONE = [
    "answer = 1",
    "table = LoadDB('patient')\ntable = FilterDB(table, 'age>=50')\nanswer = GetValue(table, 'uniquepid, count')",
    "rows = SQLInterpreter('select 1')\nanswer = [row[0] for row in rows if row[0] is not None]",
    "def years(text):\n    return int(text.split('-')[0])\nanswer = max(years(t) for t in Calendar('0 year').split(' ')[:1])",
    "try:\n    x = {}['a']\nexcept KeyError as error:\n    print(f'no {error!r}', sorted([2, 1], key=lambda n: -n))",
    "t = LoadDB('a')\nt['b'] = t['a'] * 2\nt.loc[0, 'b'] = 1\ndel t['a']\nanswer = t['b'].mean()",
    "while True:\n    pass",
    "id_ = 1\nimported = exec_ = id_",
]
SOME = [
    "import json",
    "from os import path",
    "open('f', 'w')",
    "__import__('os')",
    "exec('x = 1')",
    "eval('1')",
    "__builtins__['x'] = 1",
    "LoadDB.x = 1",
    "LoadDB.append = 1",
    "del LoadDB.append",
    "setattr(LoadDB, 'x', 1)",
    "LoadDB.__globals__['x'] = 1",
    "__globals__ = 1\nLoadDB.__globals__['x'] = 1",
    "(x for x in []).gi_frame.f_builtins['len'] = 1",
    "().__class__.__base__.__subclasses__()",
    "'{0.__class__}'.format(1)",
    "class A:\n    def __del__(self): print(1)",
    "def f():\n    try: yield 1\n    finally: print(2)\ng = f(); next(g)",
    "with x: pass",
    "async def f(): pass",
    "global x\nx = 1",
    "LoadDB('a').to_csv('f')",
    "LoadDB('a').apply(print)",
    "LoadDB('a').agg('to_csv')",
    "LoadDB('a').eval('@open')",
    "LoadDB('a').query('a > 1')",
    "LoadDB('a').array._pa_array",
    "for LoadDB.x in [1]: pass",
    "[0 for LoadDB.x in [1]]",
    "globals()['x'] = 1",
    "type(LoadDB)",
    "match LoadDB:\n    case type(): pass",
    "help(input())",
    "lambda: (yield)",
]


@each_row("cell", NONE)
def test_its_own_variables_do_not_count_as_a_trace(cell):
    assert leaves_nothing(ast.parse(cell))


@each_row("cell", SOME)
def test_a_change_outside_its_variables_counts_as_a_trace(cell):
    assert not leaves_nothing(ast.parse(cell))


PAIRS = [  # what a harmless cell leaves if it can, and what the next one of the same process sees
    ("leak = 1", "answer = leak", "NameError"),
    ("answer = 41", "answer += 1", "NameError"),
    ("LoadDB = None\nlen = 7", "answer = LoadDB('patient').shape, len('ab')", "((2, 2), 2)"),
    ("t = LoadDB('patient')\nt['leak'] = 1\nt.loc[:, 'age'] = 9", "t = LoadDB('patient')\nanswer = t.columns.to_list(), t['age'].sum()", "(['uniquepid', 'age'], 30)"),
    ("SQLInterpreter('select 1')\n1 / 0", "answer = SQLInterpreter('select count(*) from patient')", "[(2,)]"),
    ("rows = [LoadDB]\nrows.append(rows)\ndef again(): return again", "answer = 'again' in [1]", "False"),
    ("print('said')", "answer = 1", "1"),
]  # fmt: skip


@slow
async def test_cells_of_one_process_do_not_see_each_others_traces(tmp_path):
    with sqlite3.connect(tmp_path / "eicu.db") as made:
        made.execute("create table patient (uniquepid varchar(20), age int)")
        made.executemany("insert into patient values (?, ?)", [("a", 10), ("b", 20)])
    made.close()
    tables = prepare(tmp_path / "eicu.db", metadata("eicu"), tmp_path / "tables")
    arguments = {"file": str(tmp_path / "eicu.db"), "tables": str(tables), "database": "eicu"}
    sandbox = Sandbox()
    session = sandbox.open(Library("components.ehr.cell", arguments, (tmp_path / "eicu.db", tables)))
    await session.run("answer = 0")
    before = set(below(os.getpid()))
    for left, seen, expected in PAIRS:
        assert leaves_nothing(ast.parse(left)) and leaves_nothing(ast.parse(seen))
        await session.run(left)
        ran = await session.run(seen)
        assert (ran.answer or ran.error.type) == expected and ran.output == ""
    assert set(below(os.getpid())) == before
    sandbox.close()
