"""The command in this process, and a user's own package and folder of YAML."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.in_process import settled

PARTS = """
import asyncio, os
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Sequence
from annotated_types import Ge
from components.core.errors import ConfigError
from components.core.messages import Completion, Message, Sampling, Usage
from components.core.traits import ModelTraits, Requirements, ScorerTraits
from components.core.types import Answer, Problem, Sample, Score
from components.core.tools import Offer

@dataclass(frozen=True)
class Pace:
    seconds: Annotated[float, Ge(0)] = 0.0
    style: Literal["slow", "quick"] = "quick"

@dataclass
class Echo:
    name: str = "echo"
    pace: Pace = Pace()
    retries: int = 1
    in_process: bool = True
    permits: Sequence[str] = ()
    breaks: bool = False
    max_connections: int = 2
    kind: ClassVar[str] = "simulated"
    deterministic: ClassVar[bool] = False
    sampling: ClassVar[Sampling] = Sampling(temperature=1.0)
    studied: list = field(default_factory=list, init=False)

    @property
    def identity(self):
        return self.name

    @property
    def traits(self):
        return ModelTraits(study=self.study)

    def study(self, samples):
        if self.breaks:
            raise RuntimeError("broken model")
        self.studied += samples

    async def generate(self, request):
        await asyncio.sleep(self.pace.seconds)
        return Completion(Message("assistant", "A"), Usage(3, 1, 0.5))

    async def close(self):
        pass

@dataclass(frozen=True)
class Asks:
    times: int = 1
    controls: Sequence[str] = ()

    @property
    def requirements(self):
        return Requirements(controls=self.controls)

    async def solve(self, episode):
        for _ in range(self.times):
            reply = await episode.ask([Message("user", episode.problem.question)], "answer")
        return Answer(reply.text)

@dataclass(frozen=True)
class Numbers:
    n: int = 4
    privacy: Literal["open", "credentialed", "phi"] = "open"
    path: str | None = None
    split: str = "test"
    splits: ClassVar[Sequence[str]] = ("test",)

    @property
    def fingerprint(self):
        return f"numbers-{self.n}"

    def load(self, split):
        if self.path is not None and not os.path.exists(self.path):
            raise ConfigError(f"no data file {self.path}; download it first")
        for i in range(self.n):
            yield Sample(Problem(f"q{i}", f"question {i}?"), "A")

@dataclass(frozen=True)
class Right:
    version: ClassVar[str] = "1"

    def score(self, sample, trajectory):
        return [Score("score/strict", float(trajectory.answer == sample.target))]
"""
CONF = {
    "model/echo": "name: echo\npace: {seconds: 0.0, style: quick}\nretries: 1\nin_process: true\npermits: []\nbreaks: false\nmax_connections: 2\n_target_: mine.parts.Echo",
    "agent/asks": "_target_: mine.parts.Asks\ntimes: 1",
    "dataset/numbers": "_target_: mine.parts.Numbers\nn: 4\nprivacy: open\npath: null\nsplit: test",
    "scorer/right": "right: {_target_: mine.parts.Right}",
    "experiment/own": (
        "# @package _global_\ndefaults:\n  - override /model: echo\n  - override /agent: asks\n"
        "  - override /dataset: numbers\n  - override /scorer: right\n  - override /toolset: none\n"
        "  - override /condition: intact\n  - override /tracking: 'off'\nname: own\nrun: {allow_targets: [mine], journal: null}"
    ),
}


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The only line about the config."""
        (line,) = [line for line in self.err.splitlines() if line.startswith("config error: ")]
        return line.removeprefix("config error: ")


@dataclass
class Home:
    """A user's folder, with a package ``mine`` and configs in ``conf``."""

    path: Path
    capsys: pytest.CaptureFixture
    monkeypatch: pytest.MonkeyPatch

    def write(self, name: str, text: str) -> Path:
        path = self.path / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
        return path

    def words(self, *words: str) -> list[str]:
        return ["--config-dir", "conf", "experiment=own", *words]

    def run(self, *words: str, plain: bool = False) -> Done:
        """``python -m runner`` in this process."""
        from runner.__main__ import main

        self.capsys.readouterr()
        given = list(words) if plain else self.words(*words)
        self.monkeypatch.setattr(sys, "argv", ["wardround", *given])
        code = main()
        return Done(code, *self.capsys.readouterr())

    def runs(self, name: str = "own") -> list[Path]:
        """The folders below ``outputs/<name>``."""
        folder = self.path / "outputs" / name
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def manifest(self, folder: Path) -> dict:
        return json.loads((folder / "manifest.json").read_text())


def settle(tmp_path: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    """Make a user's folder, run in it, and put back what a command changes in its process."""
    home = Home(tmp_path, capsys, monkeypatch)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine" / "parts.py").write_text(PARTS)
    for name, text in CONF.items():
        home.write(name, text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    with settled():
        yield home
    for name in [n for n in sys.modules if n == "mine" or n.startswith("mine.")]:
        del sys.modules[name]
