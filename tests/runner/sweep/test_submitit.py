"""Jobs sent by submitit, here to local processes. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest
tests/runner/sweep/test_submitit.py``.
"""

import shutil
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import pytest

from components.core.errors import ConfigError
from runner.sweep import engines
from runner.sweep.engines import by_submitit
from runner.sweep.remote_job import ProcessDied
from tests.runner.sweep.deadly import count_calls, furnish, orders, survives_a_death, sweep
from tests.slow import slow

FailedJobError = pytest.importorskip("submitit.core.utils", reason="extra submitit").FailedJobError


def submit(home, order, **settings):
    options = {"submitit_folder": str(home.path / "sent" / "%j"), "timeout_min": 2, "nodes": 1, "tasks_per_node": 1}
    return next(by_submitit("local", options | settings, deque([order])))


@slow
def test_six_jobs_with_submitit(home):
    survives_a_death(home, "submitit_local")


def test_a_job_is_one_process(home):
    furnish(home, lives=0)
    with pytest.raises(ConfigError, match=r"hydra\.launcher\.nodes: found 2, a job is one process: it should be 1"):
        submit(home, orders(home, "a")[0], nodes=2)


def test_a_secret_is_not_written_to_the_disk(home):
    furnish(home, lives=0)
    order = orders(home, "a")[0]
    with pytest.raises(ConfigError, match="job a: submitit writes configs to the disk, and this one holds a secret"):
        submit(home, replace(order, cfg=order.cfg | {"model": {"api_key": "sk-abcdefghijklmnopqrstuvwxyz0123456789"}}))
    assert not (home.path / "sent").exists()


class Refusing:
    """Of Slurm: it takes one array, and refuses what comes later; the first job fails on its node."""

    def __init__(self, taken=1):
        self.taken, self.cancelled = taken, []

    def map_array(self, _, orders):
        self.taken -= 1
        if self.taken < 0:
            raise FailedJobError("sbatch: error: Slurm\n temporarily unable to accept job")
        return [Sent(order.label, self.cancelled) for order in orders]


class Sent:
    state = "FAILED"

    def __init__(self, label, cancelled):
        self.job_id, self._cancelled = label, cancelled

    def done(self):
        return self.job_id == "a"

    def result(self):
        trace = "Traceback (most recent call last):\n  File\nModuleNotFoundError: No module named 'mine'\n"
        raise FailedJobError(f"Job failed with trace:\n---------\n{trace}\n---------\nYou can check logs:\n  - /log")

    def cancel(self, check):
        self._cancelled.append(self.job_id)


def test_a_refusal_of_a_job_that_is_begun_again_ends_that_job_alone(monkeypatch):
    slurm, queue = Refusing(), deque(SimpleNamespace(label=label, cfg={}) for label in "ab")
    monkeypatch.setattr(engines, "_executor", lambda *_: slurm)
    ends = by_submitit("slurm", {}, queue)
    order, end = next(ends)
    assert end.why == "its process died (job a, failed): ModuleNotFoundError: No module named 'mine'"
    queue.append(order)
    assert next(ends) == (order, ProcessDied("sbatch: error: Slurm temporarily unable to accept job"))
    assert slurm.cancelled == []
    ends.close()
    assert slurm.cancelled == ["b"]


def test_a_refusal_of_all_jobs_is_an_error(monkeypatch):
    monkeypatch.setattr(engines, "_executor", lambda *_: Refusing(taken=0))
    with pytest.raises(ConfigError, match="hydra/launcher=submitit_slurm: sbatch: error: Slurm temporarily"):
        next(by_submitit("slurm", {}, deque([SimpleNamespace(label="a", cfg={})])))


SLURM = {
    "sbatch": (
        'last=$(sed -n "s/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p" "$1")\n'
        'export SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_JOB_NODELIST=here\n'
        'for n in $(seq 0 "${last:-0}"); do\n'
        '  SLURM_JOB_ID=$$ SLURM_ARRAY_JOB_ID=${last:+$$} SLURM_ARRAY_TASK_ID=${last:+$n} bash "$1" > /dev/null 2>&1 &\n'
        'done\necho "Submitted batch job $$"'
    ),
    "srun": 'while :; do case "$1" in --output|--error) shift 2;; -*) shift;; *) exec "$@";; esac; done',
    "sacct": 'echo "JobID|State|NodeList"',
    "scancel": ":",
}  # fmt: skip


def test_slurm_job_array(home):
    """Slurm's commands are stand-in scripts that run their arguments locally."""
    furnish(home, lives=0)
    for name, script in SLURM.items():
        path = home.path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
    home.monkeypatch.setenv("PATH", str(home.path / "bin"), prepend=":")
    words = ("hydra/launcher=submitit_slurm", "hydra.launcher.partition=wards", "hydra.launcher.max_num_timeout=3")
    done = sweep(home, *words, "model.name=a,b")
    assert done.code == 0, done.err
    assert "2 of 2 jobs" in done.out
    assert len(count_calls(home)) == 2 * 6
    submit = [path.read_text() for path in (home.path / "sweep" / ".submitit").rglob("*.sh")]
    assert submit and all("#SBATCH --partition=wards" in text for text in submit)


def test_without_slurm_nothing_is_sent(home):
    if shutil.which("srun"):
        pytest.skip("Slurm is installed")
    furnish(home, lives=0)
    done = sweep(home, "hydra/launcher=submitit_slurm", "model.name=a,b")
    assert done.code == 2
    assert "hydra/launcher=submitit_slurm: Could not detect" in done.err
