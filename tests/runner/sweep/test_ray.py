"""Jobs on Ray."""

import pytest

from components.core.errors import ConfigError
from runner.sweep.engines import Ray
from tests.runner.sweep.deadly import furnish, survives_a_death, sweep
from tests.table import each_row


def test_jobs_reach_ray_from_the_sweeper_that_checks_them():
    with pytest.raises(ConfigError, match="hydra/sweeper=wardround"):
        Ray().launch([], 0)


@each_row(
    "words, message",
    [
        ({"cpus": 0}, "hydra.launcher.cpus: found 0, should be greater than 0"),
        ({"memory_gb": "much"}, "hydra.launcher.memory_gb: found 'much', should be a number"),
        ({"address": "auto", "processors": 2}, "hydra.launcher.processors: it is for a Ray that is started here"),
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


def test_six_jobs_on_ray(home):
    pytest.importorskip("ray", reason="extra ray")
    survives_a_death(home, "ray")
