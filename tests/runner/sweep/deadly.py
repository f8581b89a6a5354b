"""A model that kills its process, and sweeps of it in other processes."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import yaml

from runner.episode.budget import Spent
from runner.experiment.experiment import Launch
from runner.job.plan import Cell
from runner.sweep.remote_job import RemoteJob, remote_jobs_of

DEADLY = """
import os, signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from mine.parts import Echo

@dataclass
class Deadly(Echo):
    after: int = 3
    answered: int = 0

    async def generate(self, request):
        if self.name == "deadly" and self.answered >= self.after:
            for life in Path().glob("life-*"):
                with suppress(FileNotFoundError):  # another process has taken it
                    life.unlink()
                    os.kill(os.getpid(), signal.SIGKILL)
        reply = await super().generate(request)
        self.answered += 1
        with open("asked", "a") as file:
            file.write(f"{self.name} {request.seed}\\n")
        return reply
"""
MODEL = (
    "name: deadly\npace: {seconds: 0.02, style: quick}\nretries: 1\nin_process: true\npermits: []\nbreaks: false\n"
    "max_connections: 1\nafter: 3\n_target_: mine.deadly.Deadly"
)
WORDS = ("model=deadly", "dataset.n=6", "run.journal=journal")


def furnish(home, lives: int) -> None:
    """Let the model kill its process so many times: at its fourth call."""
    (home.path / "mine" / "deadly.py").write_text(DEADLY)
    for n in range(lives):
        (home.path / f"life-{n}").touch()
    home.write("model/deadly", MODEL)


def cell(home, name: str, after: int, **budget) -> Cell:
    """A job as the sweeper hands it on."""
    made = home.path / "made"
    if not made.exists():
        assert home.run(*WORDS, "model.name=other", "limit=1", "hydra.run.dir=made").code == 0
        (home.path / "asked").unlink()
    cfg = yaml.safe_load((made / "config.yaml").read_text()) | {"limit": None}
    cfg["budget"]["run"] |= budget
    cfg["model"] |= {"name": name, "after": after}
    return Cell((), {}, name, Path("sweep") / name, cfg, Launch(sweep="sweep", label=name))


def orders(home, *names: str, spent: Spent | None = None, after: int = 3, **budget) -> list[RemoteJob]:
    """Jobs that differ in the name of their model; the one named ``deadly`` dies after so many calls."""
    return remote_jobs_of([cell(home, name, after, **budget) for name in names], len(names), spent or Spent())


def count_calls(home) -> Counter:
    """How often each call was answered, by the name of its model and its seed."""
    path = home.path / "asked"
    return Counter(path.read_text().splitlines()) if path.exists() else Counter()


@dataclass
class Swept:
    """The outcome of a sweep in a separate process."""

    code: int
    out: str
    err: str


def sweep(home, *words: str) -> Swept:
    """Run the command in a separate process."""
    line = [sys.executable, "-m", "runner", "-m", *home.words(*WORDS, "hydra.sweep.dir=sweep", *words)]
    done = subprocess.run(line, cwd=home.path, capture_output=True, text=True, timeout=240, check=False)
    return Swept(done.returncode, done.stdout, done.stderr)


def survives_a_death(home, launcher: str, *words: str) -> None:
    """Six jobs in two parts each on a launcher: a part kills its process once, three jobs stop early, the others are
    complete; nothing is paid twice, the table is printed, and the same folder can be resumed."""
    furnish(home, lives=1)
    words = (*words, "run.shards=2", "model.name=deadly,b,c", "model.breaks=false,true", "model.after=2")
    words = (f"hydra/launcher={launcher}", *words)
    done = sweep(home, *words)
    assert done.code == 1, done.err
    assert "its process died" in done.err or launcher == "joblib"
    assert re.search(r"restarted after their processes died: .*name-deadly\+breaks-false/parts/[12]-of-2 1 x", done.err)
    broken = ", ".join(f"name-{name}+breaks-true" for name in ("deadly", "b", "c"))
    assert f"3 jobs ({broken}) ended with exit code 1: 2 of 2 parts failed: part 1-of-2: RuntimeError: " in done.err
    assert "3 of 6 jobs" in done.out
    assert set(count_calls(home).values()) == {1} and len(count_calls(home)) == 3 * 6
    for name in ("deadly", "b", "c"):
        manifest = home.manifest(home.path / "sweep" / f"name-{name}+breaks-false")
        assert (manifest["status"], manifest["counts"]["finished"]) == ("complete", 6)
    again = sweep(home, *words)
    assert "sweep of 6 jobs, 3 of them finished before" in again.err
    assert sum(count_calls(home).values()) == 3 * 6
