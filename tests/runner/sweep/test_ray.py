"""Jobs on Ray. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest tests/runner/sweep/test_ray.py``."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from components.core.errors import ConfigError
from runner.sweep.engines import Ray
from tests.runner.sweep.deadly import count_calls, furnish, survives_a_death, sweep
from tests.slow import slow
from tests.table import each_row


def test_jobs_reach_ray_from_the_sweeper_that_checks_them():
    with pytest.raises(ConfigError, match="hydra/sweeper=wardround"):
        Ray().launch([], 0)


@each_row(
    "words, message",
    [
        ({"cpus": 0}, "hydra.launcher.cpus: found 0, should be greater than 0"),
        ({"memory_gb": "much"}, "hydra.launcher.memory_gb: found 'much', should be a number"),
        ({"address": "auto", "processors": 2}, "hydra.launcher.processors: it is for a Ray started by this command"),
    ],
)
def test_settings_are_checked_before_any_job(words, message):
    pytest.importorskip("ray", reason="extra ray")
    with pytest.raises(ConfigError, match=message):
        Ray(**words).setup(hydra_context=None, task_function=None, config=None)


def test_missing_cluster_is_reported_immediately(home):
    pytest.importorskip("ray", reason="extra ray")
    furnish(home, lives=0)
    done = sweep(home, "hydra/launcher=ray", "hydra.launcher.address=127.0.0.1:9", "model.name=a,b")
    assert done.code == 2
    assert "hydra.launcher.address: there is no Ray at '127.0.0.1:9'" in done.err


@slow
def test_six_jobs_on_ray(home):
    pytest.importorskip("ray", reason="extra ray")
    survives_a_death(home, "ray")


@slow
def test_a_node_that_goes_away_loses_nothing(home):
    """Jobs that ran there begin again on the node that is left, where they continue in their folders."""
    pytest.importorskip("ray", reason="extra ray")
    from ray.cluster_utils import Cluster

    furnish(home, lives=0)
    home.monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    handler = signal.getsignal(signal.SIGTERM)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=2, include_dashboard=False)
        words = ("hydra/launcher=ray", f"hydra.launcher.address={cluster.address}", "run.shards=2")
        with ThreadPoolExecutor() as pool:
            running = pool.submit(sweep, home, *words, "model.name=a,b,c,d,e,f", "model.pace.seconds=1")
            while sum(count_calls(home).values()) < 8:
                assert not running.done(), running.result()
                time.sleep(0.05)
            cluster.remove_node(second, allow_graceful=False)
            done = running.result()
    finally:
        cluster.shutdown()
        signal.signal(signal.SIGTERM, handler)  # Ray has its own
    assert done.code == 0, done.err
    assert "6 of 6 jobs" in done.out and "its process died" in done.err
    calls = count_calls(home)
    assert len(calls) == 6 * 6 and sum(calls.values()) <= 6 * 6 + 2, "but for those in flight on two processors"
