"""Which launchers run jobs in other processes through this project's engines."""

from types import SimpleNamespace

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import create_config_search_path
from hydra.types import RunMode
from hydra.utils import get_class

from runner.config.catalogue import CONF
from runner.sweep import engines
from runner.sweep.engines import ENGINES, Ray, engine_of
from runner.sweep.plugins import register


@pytest.mark.parametrize("choice", ["joblib", "submitit_local", "submitit_slurm", "ray"])
def test_every_launcher_of_the_documentation_is_in_the_table_under_its_target(choice):
    register()
    extra = choice.partition("_")[0]
    if extra != "ray":
        pytest.importorskip(f"hydra_plugins.hydra_{extra}_launcher", reason=f"extra {extra}")
    loader = ConfigLoaderImpl(create_config_search_path(str(CONF)))
    config = loader.load_configuration("config", [f"hydra/launcher={choice}"], RunMode.MULTIRUN)
    target = config.hydra.launcher._target_
    kind = get_class(target)
    assert target in ENGINES and f"{kind.__module__}.{kind.__qualname__}" == target


def test_other_launchers_are_left_unchanged_under_any_name():
    register()
    ray = Ray()
    ray.settings = None
    assert engine_of(ray) is not None
    assert engine_of(type("JoblibLauncher", (), {})()) is None and engine_of(type("Ray", (Ray,), {})()) is None


def squeue(home, script):
    path = home / "squeue"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_job_is_lost_once_the_queue_has_lacked_it_for_longer_than_nfs_keeps_entries(tmp_path, monkeypatch):
    squeue(tmp_path, "echo 7_1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    lost, jobs = engines._Lost("slurm"), [SimpleNamespace(job_id=f"7_{n}", state="UNKNOWN") for n in range(2)]
    found = []
    for now in (1000.0, 1060.0, 1062.0):
        monkeypatch.setattr(engines.time, "monotonic", lambda now=now: now)
        found.append(lost.among(jobs))
    assert found == [set(), set(), {"7_0"}]


def test_a_queue_that_does_not_answer_says_nothing(tmp_path, monkeypatch):
    squeue(tmp_path, "exec sleep 20")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(engines, "_SQUEUE_SECONDS", 0.2)
    assert engines._Lost("slurm", missing={"7"}).among([SimpleNamespace(job_id="7", state="UNKNOWN")]) == set()
