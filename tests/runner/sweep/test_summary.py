"""What a sweep says and leaves at its end."""

import json

TASKS = """
@dataclass(frozen=True)
class Tasks:
    task: str = "easy"
    privacy: Literal["open", "credentialed", "phi"] = "open"
    split: str = "test"
    splits: ClassVar[Sequence[str]] = ("test",)

    @property
    def fingerprint(self):
        return self.task

    def load(self, split):
        for i in range(3):
            target = "A" if i or self.task == "easy" else "B"
            strata = {"task": self.task, "dimension": "data" if self.task == "notes" else "knowledge"}
            yield Sample(Problem(f"{self.task}{i}", "question?"), target, strata=strata)

@dataclass(frozen=True)
class Averaged(Right):
    names: ClassVar[Sequence[str]] = ("score/accuracy",)
    levels: ClassVar[Sequence[str]] = ("task", "dimension")
"""


def test_one_task_per_job_is_averaged_over_the_jobs_and_calls_are_added_up(home):
    path = home.path / "mine" / "parts.py"
    path.write_text(path.read_text() + TASKS)
    home.write("dataset/tasks", "_target_: mine.parts.Tasks\ntask: easy\nprivacy: open\nsplit: test")
    home.write("scorer/averaged", "averaged: {_target_: mine.parts.Averaged}")
    words = ["-m", "dataset=tasks", "scorer=averaged", "dataset.task=easy,hard,notes", "agent.times=1,2"]
    done = home.run(*words, "run.journal=calls")
    assert done.code == 0, done.err
    (folder,) = home.runs()
    told = json.loads((folder / "means.json").read_text())["score/accuracy"]
    assert list(told) == ["times=1", "times=2"]
    assert abs(told["times=1"]["total"]["value"] - ((1 + 2 / 3) / 2 + 2 / 3) / 2) < 1e-9
    assert "calls:        18 sent, 9 answered by the journal, over 6 jobs" in done.out
    assert "score/accuracy: means per dimension of means per task, and total" in done.out
    metrics = json.loads((folder / "task-notes+times-1" / "metrics.json").read_text())["metrics"]
    assert metrics["total/score/accuracy"]["value"] == metrics["score/accuracy"]["value"]


def test_a_sweep_without_levels_leaves_no_means(home):
    done = home.run("-m", "seed=0,1", "dataset.n=1")
    (folder,) = home.runs()
    assert done.code == 0 and not (folder / "means.json").exists()
    assert "calls:        2 sent, 0 answered by the journal, over 2 jobs" in done.out
