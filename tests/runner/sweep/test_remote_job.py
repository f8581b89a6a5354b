"""The input of a job process, and its result."""

import signal
import sys
from dataclasses import replace

import pytest

from runner.episode.budget import Spent
from runner.sweep.remote_job import run_remote_job, spent_since
from tests.runner.sweep.deadly import count_calls, furnish, orders
from tests.slow import slow


@pytest.fixture
def three(home):
    """Orders for three jobs, by the budget of the sweep."""
    furnish(home, lives=0)
    return lambda **given: orders(home, "a", "b", "c", **given)


def budgets(found, key):
    return [order.cfg["budget"]["run"][key] for order in found]


@slow
def test_each_job_has_its_share_of_the_budget(three):
    found = three(calls=11, tokens=2, usd=0.9, spent=Spent(calls=1, usd=0.3))
    assert budgets(found, "calls") == [4, 3, 3]
    assert budgets(found, "tokens") == [1, 1, 0]
    assert budgets(found, "usd") == pytest.approx([0.2] * 3)


@slow
def test_no_budget_gives_no_shares(three):
    found = three()
    assert budgets(found, "calls") == [None] * 3
    assert [order.until for order in found] == [None] * 3


def test_job_returns_its_exit_code_and_prints_nothing(home, three, capsys):
    order = three()[0]
    ended = run_remote_job(order)
    assert (ended.code, ended.error) == (0, "")
    assert "a: Status complete: 6 of 6 episodes finished" in ended.said
    assert capsys.readouterr().out == ""
    assert home.manifest(order.folder)["sweep"] == "sweep"


@slow
def test_restarted_process_has_the_rest_of_its_budget(home, three):
    order = three(calls=12)[0]
    assert run_remote_job(order).code == 3
    assert len(count_calls(home)) == 4
    assert spent_since(order).calls == 4
    assert run_remote_job(order).code == 3  # restarted: its whole share is spent
    assert len(count_calls(home)) == 4
    assert run_remote_job(three(calls=12)[0]).code == 0  # repeating the command gives the whole budget again


@slow
def test_journalled_replies_are_not_charged(home, three):
    order = three(calls=30)[0]
    order = replace(order, cfg={**order.cfg, "run": {**order.cfg["run"], "journal": "journal"}})
    assert run_remote_job(order).spent.calls == 6
    again = run_remote_job(replace(order, folder=order.folder.with_name("again")))
    assert (again.code, again.spent.calls, len(count_calls(home))) == (0, 0, 6)


@slow
def test_time_limit_applies_to_every_process(three):
    order = three(seconds=60.0)[0]
    assert run_remote_job(replace(order, until=order.until - 61)).code == 3


@slow
def test_a_clock_that_goes_back_gives_a_job_no_more_time(three):
    order = three(seconds=0.0)[0]
    assert run_remote_job(replace(order, until=order.until + 3600)).code == 3


@slow
@pytest.mark.parametrize(
    ("finding", "message"),
    [("SystemExit('left')", "SystemExit: left"), ("RuntimeError('no such luck')", "RuntimeError: no such luck")],
)
def test_exception_in_a_job_does_not_stop_others(home, three, finding, message):
    order = three()[0]
    parts = home.path / "mine" / "parts.py"
    parts.write_text(parts.read_text().replace("if self.breaks:", f"raise {finding}\n        if self.breaks:"))
    for name in [name for name in sys.modules if name.startswith("mine")]:
        del sys.modules[name]
    ended = run_remote_job(order)
    assert (ended.code, ended.error) == (1, message)


@slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
def test_terminated_job_ends_like_an_interrupted_one(home, three, number):
    """The handler's SystemExit is raised while a sample runs: it is neither a sample error nor a crash of the job."""
    order = three()[0]
    parts = home.path / "mine" / "parts.py"
    pause = f"import signal\n        signal.raise_signal({int(number)})\n        await asyncio.sleep(self.pace.seconds)"
    parts.write_text(parts.read_text().replace("await asyncio.sleep(self.pace.seconds)", pause))
    for name in [name for name in sys.modules if name.startswith("mine")]:
        del sys.modules[name]
    before = signal.signal(number, lambda *_: sys.exit(7))
    try:
        with pytest.raises(SystemExit) as left:
            run_remote_job(order)
    finally:
        signal.signal(number, before)
    assert left.value.code == 7
    assert home.manifest(order.folder)["status"] == "interrupted"
    assert (order.folder / "records.jsonl").read_text() == ""
