"""A search whose trials run in other processes. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest
tests/runner/sweep/test_search_processes.py``.
"""

import pytest

from tests.runner.sweep.deadly import count_calls, furnish, sweep
from tests.slow import slow

pytest.importorskip("optuna", reason="extra optuna")


@slow
def test_six_trials_in_parts_survive_the_death_of_a_process(home):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="extra joblib")
    furnish(home, lives=1)
    words = (
        "hydra/sweeper=optuna", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "run.shards=2", "model.after=2",
        "model.name=choice(deadly,b,c,d,e,f)", "search.sampler=grid", "search.trials=6", "search.at_once=6",
        "search.objectives={calls/per_sample:minimise}",
    )  # fmt: skip
    done = sweep(home, *words)
    assert done.code == 0, done.err
    assert "restarted after their processes died" in done.err
    assert set(count_calls(home).values()) == {1} and len(count_calls(home)) == 6 * 6
    for n in range(6):
        manifest = home.manifest(home.path / "sweep" / f"trial-{n:04}")
        assert (manifest["status"], manifest["counts"]["finished"]) == ("complete", 6)
    again = sweep(home, *words)
    assert again.code == 0 and sum(count_calls(home).values()) == 6 * 6, again.err
