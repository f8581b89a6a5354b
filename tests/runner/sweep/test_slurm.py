"""Jobs on a real Slurm: its daemons on this machine, with a configuration, keys and two nodes of their own.

Runs with ``WARDROUND_TEST_SLOW=1 python -m pytest tests/runner/sweep/test_slurm.py`` as root, after ``apt-get install
slurmctld slurmd munge`` and ``pip install 'wardround[submitit]'``.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.runner.sweep.deadly import count_calls, furnish, survives_a_death, sweep
from tests.slow import slow

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
pytest.importorskip("submitit", reason="extra submitit")
if MISSING or os.geteuid() != 0:
    needs = (
        f"not installed: {', '.join(MISSING)} (apt-get install slurmctld slurmd munge)"
        if MISSING
        else "slurmd needs root"
    )
    pytest.skip(needs, allow_module_level=True)
pytestmark = slow
NODES = ("one", "two")
CONF = """
ClusterName=wards
SlurmctldHost={host}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=bf_interval=1,sched_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdTimeout=5
SlurmdParameters=config_overrides
KillWait=2
ReturnToService=2
NodeName=one NodeHostname={host} Port={first} CPUs=2
NodeName=two NodeHostname={host} Port={second} CPUs=2
PartitionName=wards Nodes=one,two Default=YES State=UP
"""


class Cluster:
    """Slurm's daemons, in the foreground."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.env = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
        (folder / "munge.key").chmod(0o600)
        with ExitStack() as free:
            sockets = [free.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
            controller, first, second = (one.getsockname()[1] for one in sockets)
        ports = {"controller": controller, "first": first, "second": second}
        (folder / "slurm.conf").write_text(CONF.format(host=socket.gethostname(), folder=folder, **ports))
        files = {"socket": "socket", "key-file": "key", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        self.start("munged", "--foreground", "--force", *(f"--{k}={folder}/munge.{v}" for k, v in files.items()))
        self.start("slurmctld", "-D", "-c")
        self.nodes = {node: self.start("slurmd", "-D", "-N", node) for node in NODES}
        self.wait(lambda: self.states() == {"idle"})

    def start(self, *words: str) -> subprocess.Popen:
        """Start a daemon, which ends with the test."""
        log = self.stack.enter_context((self.folder / f"{words[0]}.out").open("ab"))
        process = subprocess.Popen(words, env=self.env, stdout=log, stderr=log)
        self.stack.callback(process.wait, 20)
        self.stack.callback(process.terminate)
        return process

    def states(self) -> set[str]:
        """The states of the nodes."""
        return set(self.ask("sinfo", "--noheader", "--Node", "--format=%t").split())

    def ask(self, *words: str) -> str:
        """What a command of Slurm prints."""
        return subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=20, check=False).stdout

    def wait(self, reached, seconds: float = 30.0) -> None:
        """Wait until something holds."""
        end = time.monotonic() + seconds
        while not reached():
            assert time.monotonic() < end, (self.folder / "slurmctld.log").read_text()[-2000:]
            time.sleep(0.1)

    def lose(self, node: str) -> None:
        """Kill a node's daemon and all that runs there, as a machine that loses its power."""
        self.nodes[node].kill()
        marks = {f"SLURMD_NODENAME={node}", f"SLURM_CONF={self.folder / 'slurm.conf'}"}
        steps, jobs = set(), set()
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended
                if marks <= set((place / "environ").read_text(errors="replace").split("\0")):
                    jobs.add(int(place.name))
                    parent = re.search(r"^PPid:\s*(\d+)", (place / "status").read_text(), re.M)[1]
                    if Path("/proc", parent, "cmdline").read_text().startswith("slurmstepd"):
                        steps.add(int(parent))
        assert steps and jobs, "nothing ran there"
        for pid in (*steps, *jobs):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Slurm that runs."""
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("slurm"), stack)


@pytest.fixture
def slurm(home, cluster):
    """The cluster, for the commands of a home."""
    home.monkeypatch.setenv("SLURM_CONF", str(cluster.folder / "slurm.conf"))
    return cluster


def test_six_jobs_in_parts(home, slurm):
    survives_a_death(home, "submitit_slurm", "hydra.launcher.timeout_min=5")


def test_jobs_that_slurm_refuses_are_one_line(home, slurm):
    furnish(home, lives=0)
    done = sweep(home, "hydra/launcher=submitit_slurm", "hydra.launcher.partition=nowhere", "model.name=a,b")
    assert done.code == 2
    assert "error: hydra/launcher=submitit_slurm: sbatch: error: invalid partition specified: nowhere" in done.err


def test_a_node_that_goes_away_loses_nothing(home, slurm):
    """Slurm begins its jobs again on the other node, where they continue in their folders."""
    furnish(home, lives=0)
    words = ("hydra/launcher=submitit_slurm", "run.shards=2", "model.name=a,b,c,d,e,f", "model.pace.seconds=0.7")
    with ThreadPoolExecutor() as pool:
        running = pool.submit(sweep, home, *words)
        slurm.wait(lambda: sum(count_calls(home).values()) >= 4)
        slurm.lose("two")
        done = running.result()
    assert done.code == 0, done.err
    assert "6 of 6 jobs" in done.out
    assert "down" in slurm.ask("sinfo", "--noheader", "--nodes=two", "--format=%T")
    calls = count_calls(home)
    assert len(calls) == 6 * 6 and sum(calls.values()) <= 6 * 6 + 2, "but for those in flight on two processors"
    for name in "abcdef":
        manifest = home.manifest(home.path / "sweep" / f"name-{name}")
        assert (manifest["status"], manifest["counts"]["finished"]) == ("complete", 6)
