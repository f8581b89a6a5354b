"""Which cells can leave something in their process."""

import ast
import os
import sqlite3

import pytest

from components.ehr.columns import prepare
from components.ehr.metadata import metadata
from components.sandbox import Library, Sandbox
from components.sandbox.traces import leaves_none
from tests.components.sandbox.processes import below

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


@pytest.mark.parametrize("cell", NONE)
def test_its_own_variables_are_no_trace(cell):
    assert leaves_none(ast.parse(cell))


@pytest.mark.parametrize("cell", SOME)
def test_what_reaches_further_is_one(cell):
    assert not leaves_none(ast.parse(cell))


PAIRS = [  # what a harmless cell leaves if it can, and what the next one of the same process sees
    ("leak = 1", "answer = leak", "NameError"),
    ("answer = 41", "answer += 1", "NameError"),
    ("LoadDB = None\nlen = 7", "answer = LoadDB('patient').shape, len('ab')", "((2, 2), 2)"),
    ("t = LoadDB('patient')\nt['leak'] = 1\nt.loc[:, 'age'] = 9", "t = LoadDB('patient')\nanswer = t.columns.to_list(), t['age'].sum()", "(['uniquepid', 'age'], 30)"),
    ("SQLInterpreter('select 1')\n1 / 0", "answer = SQLInterpreter('select count(*) from patient')", "[(2,)]"),
    ("rows = [LoadDB]\nrows.append(rows)\ndef again(): return again", "answer = 'again' in [1]", "False"),
    ("print('said')", "answer = 1", "1"),
]  # fmt: skip


async def test_cells_of_one_process_find_nothing_of_each_other(tmp_path):
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
        assert leaves_none(ast.parse(left)) and leaves_none(ast.parse(seen))
        await session.run(left)
        ran = await session.run(seen)
        assert (ran.answer or ran.error.type) == expected and ran.output == ""
    assert set(below(os.getpid())) == before
    sandbox.close()
