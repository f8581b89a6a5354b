"""Jobs sent by submitit, here to local processes. Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest
tests/runner/sweep/test_submitit.py``.
"""

import shutil
from collections import deque
from dataclasses import replace

import pytest

from components.core.errors import ConfigError
from runner.sweep.engines import by_submitit
from tests.runner.sweep.deadly import count_calls, furnish, orders, survives_a_death, sweep
from tests.slow import slow

pytest.importorskip("submitit", reason="extra submitit")


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
