"""docs/reliability.md: every row is another fault, and its test exists and is marked as slow where it is."""

import ast
import re
from functools import cache

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "reliability.md"
_ROW = re.compile(r"^\| (.+?) \| (.+?) \| `(tests/\S+\.py)::(\w+)(?:\[(.+)\])?`( \(slow\))? \|$")


def rows():
    """The rows of all tables: fault, promise, file, function, case, and whether they are marked as slow."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    found = [_ROW.match(line) for line in lines if line != "| fault | promise | test |"]
    assert all(found), [line for line in lines if not _ROW.match(line)]
    return [row.groups() for row in found]


@cache
def functions(path):
    """The test functions of a file: name -> whether they or the whole file are marked as slow."""
    text = (ROOT / path).read_text(encoding="utf-8")
    whole = bool(re.search(r"^pytestmark = \[?slow\b", text, re.MULTILINE))
    tests = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {test.name: whole or "slow" in map(ast.unparse, test.decorator_list) for test in tests}


@cache
def texts_next_to(path):
    """All Python files of a test's folder as one text."""
    return "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / path).parent.glob("*.py")))


def test_there_are_at_least_60_faults_and_each_stands_once():
    faults = [fault.casefold() for fault, *_ in rows()]
    tests = [tuple(test) for _, _, *test, _ in rows()]
    assert len(faults) >= 60
    assert [fault for fault in faults if faults.count(fault) > 1] == []
    assert [test for test in tests if tests.count(test) > 1] == []


def test_named_tests_exist_and_are_marked():
    wrong = [(path, name) for _, _, path, name, _, mark in rows() if functions(path).get(name) is not bool(mark)]
    assert wrong == []


def test_named_tables_of_cases_exist():
    cases = [(path, case) for _, _, path, _, case, _ in rows() if case]
    assert cases and [one for one in cases if f'"{one[1]}": Table' not in texts_next_to(one[0])] == []
