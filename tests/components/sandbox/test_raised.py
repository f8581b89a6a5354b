"""What an exception says: type, message, the innermost line of the cell, and nothing of the machine."""

import sys

import pytest

from components.sandbox.raised import Clean, lines_of, parse

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
    "a form feed is no end": ("a = '\x0c'\nb = 1 / 0", "ZeroDivisionError", 2, "b = 1 / 0"),
    "two exceptions": ("try:\n    1 / 0\nexcept Exception:\n    [][1]", "IndexError", 4, "    [][1]"),
    "a null byte": ("a = '\0'", "SyntaxError", None, ""),
    "half a character": ("a = '\ud800'", "UnicodeEncodeError", None, ""),
}


def raised(cell, clean=None, name="<cell>"):
    try:
        exec(compile(cell, name, "exec", dont_inherit=True), {"__name__": "__main__"})
    except BaseException as error:  # noqa: BLE001  also an exit
        return parse(error, name, {name: lines_of(cell)}, clean or Clean({}))
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("name", CASES)
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


def test_what_differs_between_machines_is_taken_out():
    clean = Clean({"/home/a/data": "/data", "/home/a": "/home"})
    found = raised("raise ValueError('/home/a/data/x.db', object(), '/home/a/y')", clean)
    assert found.message == "('/data/x.db', <object object at 0x...>, '/home/y')"


def test_a_long_message_is_cut():
    assert len(raised("raise ValueError('x' * 10**6)").message) == 4000
