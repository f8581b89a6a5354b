"""The estimated cost of a sweep, from a few samples of each job."""

import io
import math
import time

import pytest

from components.core.messages import Usage
from components.core.types import Trajectory
from runner.job.preflight import Estimate, ask_to_continue, warnings_of
from tests.runner.job.test_pilot import pilot
from tests.slow import slow

ASK = ("run.preflight=true", "run.journal=journal")


def test_unknown_price_stays_unknown_and_errors_are_not_counted():
    made = pilot([Usage(10, 2, None), Usage(10, 2, 0.5)])
    made.add(Trajectory(stop="error", error="server: no reply"), 1.0)
    assert math.isnan(made.total("cost_usd").value) and made.total("input_tokens").value == 100
    assert "1 pilot samples errored (server)" in next(warnings_of([made]))


def test_call_near_the_context_window_is_reported():
    assert "90 of the model's 100 tokens" in next(warnings_of([pilot([Usage(88, 2, 0.1)], window=100)]))
    assert not list(warnings_of([pilot([Usage(70, 2, 0.1)], window=100)]))


def test_window_that_the_longest_sample_may_exceed_is_reported():
    """No pilot sample is near it, but the expected maximum of all samples is."""
    usages = [Usage(n, 0, 0.1) for n in (20, 40, 60, 80)]
    (note,) = warnings_of([pilot(usages, window=110, remaining=1000)])
    assert "had 80 of the model's 110 tokens, that of all samples may have 130" in note
    assert not list(warnings_of([pilot(usages, window=110)]))


def test_samples_longer_than_the_window_are_counted_without_a_length():
    made = pilot([Usage(70, 2, 0.1)], window=100)
    made.add(Trajectory(stop="failed", failure="context_length"), 1.0)
    assert made.longest == [72] and len(made.taken) == 2 and not made.errors
    assert list(warnings_of([made])) == ["note: job: 1 pilot samples were longer than the window (context_length)"]


def test_no_confirmation_without_a_terminal_or_below_the_limit():
    costs = [(100.0, 5.0), (math.nan, None), (1.0, 5.0)]
    assert all(ask_to_continue(Estimate(usd), above) for usd, above in costs)


@slow
def test_sweep_prints_its_estimate_and_pays_the_pilot_once(home):
    done = home.run("-m", "seed=0,1", "dataset.n=7", *ASK, "run.pilot=2")
    assert done.code == 0, done.err
    assert "from 2 pilot samples" in done.out and "  all " in done.out
    assert "calls:      10 sent, 4 answered by the journal, over 2 jobs" in done.out


@slow
def test_single_run_has_a_preflight(home):
    done = home.run("dataset.n=7", *ASK)
    assert done.code == 0 and "from 4 pilot samples" in done.out and "3 sent, 4 answered" in done.out


def test_declined_confirmation_costs_only_the_pilot(home, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    done = home.run("-m", "seed=0,1", *ASK, "budget.ask_above_usd=1")
    assert done.code == 130 and "continue? [y/N]" in done.out and "Status" not in done.out


@slow
def test_waiting_for_confirmation_uses_none_of_the_time_budget(home, monkeypatch):
    class Slow(io.StringIO):
        def isatty(self):
            return True

        def readline(self):
            time.sleep(3)
            return "y\n"

    monkeypatch.setattr("sys.stdin", Slow())
    assert home.run(*ASK, "dataset.n=7", "budget.ask_above_usd=1", "budget.run.seconds=3").code == 0


@slow
def test_the_pilot_is_charged_to_the_budget(home):
    done = home.run("-m", "seed=0,1", "dataset.n=7", *ASK, "run.pilot=2", "budget.run.calls=6")
    assert done.code == 3
    spent = [home.manifest(path)["calls"]["sent"] for path in home.runs()[0].glob("seed-*")]
    assert spent == [1, 1], "the remaining budget is divided equally"


@pytest.mark.parametrize("word", ["run.journal=null", "stage=memory"])
def test_invalid_preflight_is_refused(home, word):
    done = home.run("run.preflight=true", word)
    assert done.code == 2 and len(done.err.strip().splitlines()) <= 4
