"""Tables on a terminal: split where they are too wide, never cut."""

from runner.results.rows import headline
from runner.results.terminal import show, split_columns

HEAD = ("", "first score", "second score", "third score")
BODY = [("a/" + "x" * 30, "1", "2", "3"), ("b", "4", "5\n5.0 to 5.5", "6")]


def test_a_wide_table_becomes_several_that_all_have_the_first_column():
    assert split_columns(HEAD, BODY, 140) == [[0, 1, 2, 3]]
    assert split_columns(HEAD, BODY, 70) == [[0, 1, 2], [0, 3]]
    assert split_columns(HEAD, BODY, 20) == [[0, 1], [0, 2], [0, 3]]
    assert split_columns(("alone",), [("x",)], 10) == [[0]]


def test_a_single_table_has_the_columns_that_fit_and_names_the_others(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    show(("", "first score", "second score", "third score\nUSD"), BODY, "title", single=True)
    out = capsys.readouterr().out
    assert out.count("b  ") == 1 and "more columns in a wider terminal or with --all: third score\n" in out
    show(HEAD, BODY[1:], "title", single=True)
    assert "more columns" not in capsys.readouterr().out


def test_cell_wider_than_the_terminal_is_wrapped_and_not_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    show(HEAD, [("y" * 90, "z" * 90, "2", "3"), ("[red]b[/red]", "4", "5", "6")], "title")
    out = capsys.readouterr().out
    assert "\u2026" not in out and out.count("z") == 90 and out.count("y") == 270 and "[red]b[/red]" in out
    assert max(map(len, out.splitlines())) <= 40


def test_keys_are_in_every_part_and_no_number_is_cut(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    head, body = ("a", "b", *map(str, range(8))), [("x" * 40, "y" * 40, *["12345678"] * 8)]
    assert all(part[:2] == [0, 1] for part in split_columns(head, body, 60, keys=2))
    show(head, body, "", keys=2)
    out = capsys.readouterr().out
    assert out.count("12345678") == 8 and out.count("x") % 40 == 0 and max(map(len, out.splitlines())) <= 61


def test_named_scores_come_first_and_empty_ones_are_left_out():
    jobs = [
        {"score/a": {"value": 1}, "score/b": {"value": 1}, "faults/right": {"value": 0.5}, "faults/x": {"value": None}}
    ]
    assert headline(jobs, 2) == ["score/a", "faults/right"]
    assert headline(jobs, 2, named=["score/b", "faults/x"]) == ["score/b", "score/a"]
    assert headline(jobs, 9, named=["faults/right"]) == ["faults/right", "score/a", "score/b"]


def test_errors_and_costs_that_are_zero_in_all_jobs_take_no_column():
    scores = {name: {"value": 0.5} for name in ("completion/rate", "execution/ecr", "response/f1")}
    jobs = [scores | {"errors/rate": {"value": 0}, "cost/usd": {"value": usd}} for usd in (0, 0.1)]
    assert headline(jobs[:1], 3) == [*scores] and headline(jobs, 3) == [*list(scores)[:2], "cost/usd"]


def test_control_characters_do_not_reach_the_terminal(capsys):
    show(("metric", "a\x1b[2J"), [("x\x1b[31m", "1\n2")], "title \x1b[5m")
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "[31m" in printed
    assert any(line.split() == ["x", "[31m", "1"] for line in printed.splitlines())
