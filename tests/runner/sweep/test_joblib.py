"""Jobs in local processes. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest
tests/runner/sweep/test_joblib.py``.
"""

from functools import partial

import pytest

from runner.sweep.engines import by_joblib
from runner.sweep.remote_job import watch
from tests.runner.sweep.deadly import count_calls, furnish, orders, survives_a_death
from tests.slow import slow

pytest.importorskip("joblib")


@slow
def test_job_that_kills_its_processes_does_not_affect_others(home):
    furnish(home, lives=9)
    found = watch(partial(by_joblib, {"n_jobs": 2}), orders(home, "deadly", "b", after=0))
    assert [one.code for one in found] == [1, 0]
    assert "a process of joblib died" in found[0].error
    assert set(count_calls(home).values()) == {1} and len(count_calls(home)) == 6


@slow
def test_six_jobs_with_the_hydra_plugin(home):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="extra joblib")
    survives_a_death(home, "joblib")
