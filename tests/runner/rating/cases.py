"""A user's home with a data set of hostile texts, and runs over it to rate."""

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from components.rubrics.rubric import Field, Rubric
from runner.rating.sheets import Key
from runner.report import main
from tests.runner import command

PARTS = """
from dataclasses import dataclass
from typing import ClassVar
from components.core.types import Problem, Sample

HOSTILE = "<script>alert(1)</script></pre>"

@dataclass(frozen=True)
class Cases:
    n: int = 6
    edition: str = "1"
    privacy: str = "open"
    split: str = "test"
    splits: ClassVar = ("test",)

    @property
    def fingerprint(self):
        return f"cases-{self.n}-{self.edition}"

    def load(self, split):
        for i in range(self.n):
            task = "even" if i % 2 == 0 else "odd"
            problem = Problem(f"case {i}", f"=cmd|' /C calc'!A{i} {HOSTILE} echo?")
            yield Sample(problem, {"answer": "A" if i < 2 else f"@B{i}"}, cluster=f"patient {i // 2}", strata={"task": task})

@dataclass(frozen=True)
class Told:
    version: ClassVar = "1"

    def score(self, sample, trajectory):
        from components.core.types import Score
        return [Score("score/strict", float(trajectory.answer == sample.target["answer"]))]
"""
CONF = {
    "dataset/cases": "_target_: mine.cases.Cases\nn: 6\nedition: '1'\nprivacy: open\nsplit: test",
    "scorer/told": "told: {_target_: mine.cases.Told}",
}
WORDS = ("dataset=cases", "scorer=[told]", "name=hidden_name")
GRADED = ("scorer=[told,judged]", "+model@models.judge=simulated", "+models.judge.name=grader")
RUBRIC = """# Mine.
name: mine
source: us
question: Why?
shows: [question, answer, reference]
draw: {which: failures, score: score/strict, n: 3}
fields:
  cause: {question: "Why?", categories: {facts: A fact is wrong., logic: A step is wrong.}}
  also: {question: "What else?", pick: several, categories: {late: It was late., long: It was long.}}
"""
CAUSE = Field("Why?", {"facts": "A fact is wrong.", "logic": "A step is wrong."})
ALSO = Field("What else?", {"late": "It was late.", "long": "It was long."}, "several")
SMALL = Rubric("mine", "us", "Why?", ["question"], {"cause": CAUSE, "also": ALSO})


def key(n=4, rubric=SMALL):
    """A key of n items of one run, two of each patient."""
    items = {
        f"abc123-{i:03d}": {"run": "r1", "folder": "one", "sample_id": f"s{i}", "epoch": 0, "cluster": f"p{i // 2}"}
        for i in range(1, n + 1)
    }
    return Key(rubric, 0, items)


def settle(folder: Path) -> None:
    """Write the data into a user's home."""
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "__init__.py").write_text("")
    (folder / "mine" / "parts.py").write_text(command.PARTS)
    (folder / "mine" / "cases.py").write_text(PARTS)
    for name, text in (command.CONF | CONF).items():
        path = folder / "conf" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


@dataclass
class Home:
    """Two runs over the cases, ``one`` with a model's grades, and a folder to rate them in. Their model answers A,
    which is right for the first two of six."""

    one: Path
    two: Path
    path: Path
    capsys: pytest.CaptureFixture

    def report(self, *words) -> tuple[int, str, str]:
        """Exit code and output of ``python -m runner.report``."""
        self.capsys.readouterr()
        return main([str(word) for word in words]), *self.capsys.readouterr()

    def changed(self, lines=slice(None), **dataset) -> Path:
        """A copy of the first run with some of its records, and with other facts of its data set."""
        copy = shutil.copytree(self.one, self.path / "changed")
        records, notes = copy / "records.jsonl", json.loads((copy / "manifest.json").read_text())
        records.write_text("".join(sorted(records.read_text().splitlines(keepends=True))[lines]))
        notes["dataset"] |= dataset
        (copy / "manifest.json").write_text(json.dumps(notes))
        return copy


def table(path: Path) -> list[list[str]]:
    """The rows of a CSV."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def fill(source: Path, target: Path, pick) -> Path:
    """Fill a sheet: ``pick(item, field)`` -> text."""
    rows = table(source)
    for row in rows[1:]:
        for place, head in enumerate(rows[0]):
            if "[" in head:
                row[place] = pick(row[0], head.partition(" ")[0])
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return target
