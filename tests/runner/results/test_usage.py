"""Calls, tokens and cost by purpose."""

import pytest

from runner.report import main
from runner.results.metrics import per_purpose, per_question, summarise
from runner.results.sections.report import purposes, totals
from runner.results.table import Table
from tests.runner.results.folders import step, write
from tests.runner.results.test_metrics import record


def used(n, **purposes):
    """A record; purpose -> calls, tokens in, tokens out, dollars."""
    names = ("calls", "input_tokens", "output_tokens", "cost_usd")
    parts = {purpose: dict(zip(names, values_, strict=True)) for purpose, values_ in purposes.items()}
    costs = [part["cost_usd"] for part in parts.values()]

    by_name = {name: [part[name] for part in parts.values()] for name in names[:3]}
    total = {name: None if None in values else sum(values) for name, values in by_name.items()}
    total["cost_usd"] = None if None in costs else sum(costs)
    return record(n, 1.0) | {"usage": total | {"purposes": parts}}


RECORDS = [used(0, vote=(6, 60, 6, 0.5), answer=(1, 20, 2, 0.25)), used(1, answer=(1, 40, 4, 0.25))]


def test_every_purpose_has_its_totals_over_all_questions():
    found = summarise(RECORDS)["metrics"]
    assert {name: found[name]["value"] for name in found if "vote" in name} == {
        "calls/vote": 6, "tokens/vote/input": 60, "tokens/vote/output": 6, "cost/vote": 0.5,
    }  # fmt: skip
    assert found["calls/vote"]["n"] == 2 and found["tokens/answer/input"]["value"] == 60


def test_unknown_price_is_null_and_not_zero():
    found = summarise([*RECORDS, used(2, answer=(1, 1, 1, None))])["metrics"]
    assert found["cost/answer"]["value"] is None and found["cost/answer"]["unscored"] == 1
    assert found["cost/vote"]["value"] == 0.5 and found["cost/usd"]["value"] is None
    assert per_question(Table.of([RECORDS[0], used(2, answer=(1, 1, 1, None))]))["USD"] is None


def test_unreported_tokens_are_null_and_not_zero():
    silent = used(2, answer=(1, None, None, None))
    found = summarise([*RECORDS, silent])["metrics"]
    for name in ("tokens/input", "tokens/answer/output"):
        assert found[name]["value"] is None and found[name]["unscored"] == 1
    assert found["tokens/vote/input"]["value"] == 60 and found["calls/total"]["value"] == 9
    assert per_question(Table.of([RECORDS[0], silent]))["tokens in"] is None
    assert "tokens not known" in totals(found)


def test_calls_that_were_never_answered_cost_what_nobody_knows():
    found = summarise([used(1) | {"stop": "error", "error": "timeout: no reply"}])["metrics"]
    lost, unasked = totals(found, ["timeout: no reply"]), totals(found, ["bug: KeyError", "program: exit code 2"])
    assert lost.startswith("no call was answered, cost not known, ") and "$0.0000" in unasked


def rows(records):
    """The lines of a run's table of purposes."""
    return [row for sheet in purposes(summarise(records)["metrics"]) for row in sheet.rows]


def test_the_table_is_per_question_and_only_where_there_are_several_purposes():
    assert rows(RECORDS) == [
        ["vote", 3.0, 30.0, 3.0, 0.25],
        ["answer", 1.0, 30.0, 3.0, 0.25],
        ["all", 4.0, 60.0, 6.0, 0.5],
    ]
    assert rows(RECORDS[1:]) == [] and per_purpose({}, 0) == {}
    judged = rows([used(0, answer=(1, 1, 1, 0.0), judge=(1, 1, 1, 0.0))])
    assert [line[0] for line in judged] == ["answer", "judge (not in all)", "all"]


def test_usage_of_methods_is_per_question():
    found = per_question(Table.of(RECORDS))
    assert found == {"calls": 4.0, "tokens in": 60.0, "tokens out": 6.0, "USD": pytest.approx(0.5)}


def test_terminal_and_report_have_the_table_of_purposes(tmp_path, capsys):
    checked = step(answer="A")
    checked.purpose = "verify"
    folder = write(tmp_path / "a", {"one": ("k", [1, 0])}, steps=[step(answer="A"), checked])
    assert main(["table", str(folder), "--all"]) == 0
    out, report = capsys.readouterr().out, (folder / "report.md").read_text()
    assert "Per question, by purpose" in out
    assert (
        "## Per question, by purpose\n\n| purpose | calls | tokens in (tokens) |" in report
        and "| verify | 1.00 | 1 | 1 | 0 |" in report
    )
    assert "calls/verify" not in report and "calls/total" in report
