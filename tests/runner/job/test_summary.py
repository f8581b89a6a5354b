"""The output and the files of a finished sweep."""

import json

from runner.job.plan import Cell
from runner.job.summary import calls
from runner.results.rows import RunMetrics
from runner.results.runs import Run
from runner.results.sections.scores import jobs_table
from tests.runner.results.folders import write
from tests.slow import slow

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
    traits: ClassVar[ScorerTraits] = ScorerTraits(names=("score/strict",), levels=("task", "dimension"))
"""


@slow
def test_jobs_of_one_task_each_are_averaged_and_their_calls_summed(home):
    path = home.path / "mine" / "parts.py"
    path.write_text(path.read_text() + TASKS)
    home.write("dataset/tasks", "_target_: mine.parts.Tasks\ntask: easy\nprivacy: open\nsplit: test")
    home.write("scorer/averaged", "averaged: {_target_: mine.parts.Averaged}")
    words = ["-m", "dataset=tasks", "scorer=averaged", "dataset.task=easy,hard,notes", "agent.times=1,2"]
    done = home.run(*words, "run.journal=calls")
    assert done.code == 0, done.err
    (folder,) = home.runs()
    means = json.loads((folder / "means.json").read_text())["score/strict"]
    assert list(means) == ["times=1", "times=2"]
    assert abs(means["times=1"]["total"]["value"] - ((1 + 2 / 3) / 2 + 2 / 3) / 2) < 1e-9
    assert "calls:      18 sent, 9 answered by the journal, over 6 jobs" in done.out
    metrics = json.loads((folder / "task-notes+times-1" / "metrics.json").read_text())["metrics"]
    assert "score/strict" in metrics and "total/score/strict" not in metrics, "a job of one task has its mean"


@slow
def test_sweep_over_methods_and_datasets_ends_with_comparison_tables(home):
    """One agent's settings follow the dataset: it is one method all the same."""
    path = home.path / "mine" / "parts.py"
    path.write_text(path.read_text() + TASKS + "\n@dataclass(frozen=True)\nclass Noted(Asks):\n    of: str = ''\n")
    for name in ("easy", "hard"):
        home.write(f"dataset/sets/{name}", f"_target_: mine.parts.Tasks\ntask: {name}\nprivacy: open\nsplit: test")
    home.write("agent/twice", "_target_: mine.parts.Noted\ntimes: 2\nof: ${dataset.task}")
    done = home.run("-m", "agent=asks,twice", "dataset=sets/easy,sets/hard", "compare.baselines=[asks]")
    assert done.code == 0, done.err
    (folder,) = home.runs()
    comparison = json.loads((folder / "compare.json").read_text())
    assert comparison["rows"].keys() == {"asks", "twice"} and comparison["rows"]["asks"].keys() == {
        "easy",
        "hard",
        "mean",
    }
    assert comparison["rows"]["twice"]["mean"]["value"] == (1 + 2 / 3) / 2
    assert "report:     outputs/own/" in done.out and (folder / "report.html").is_file()
    assert (folder / "tables/leaderboard-scores.tex").is_file()
    assert comparison["differences"].keys() == {"easy", "hard", "mean"}
    assert all(list(of) == ["twice"] for of in comparison["differences"].values())
    assert comparison["per_question"]["twice"]["calls"] == 2 and comparison["baselines"] == ["asks"]
    assert "Paired differences to asks" in (folder / "compare.md").read_text() and "\u2026" not in done.out
    again = home.run("-m", "agent=asks,twice", "dataset=sets/easy,sets/hard", f"hydra.sweep.dir={folder}")
    assert "still being sent" not in again.out
    assert again.code == 0 and "4 of them finished before" in again.err, "the compared keys do not make it another run"


@slow
def test_sweep_without_levels_writes_no_means(home):
    done = home.run("-m", "seed=0,1", "dataset.n=1", "compare.scores=[no/such]")
    (folder,) = home.runs()
    assert done.code == 0 and not (folder / "means.json").exists() and (folder / "compare.json").exists()
    assert "calls:      2 sent, 0 answered by the journal, over 2 jobs" in done.out
    assert "compare.scores: no job has a value of no/such\n" in done.out


def test_calls_of_an_earlier_start_are_not_counted(tmp_path):
    def cell(name, *sent, **facts):
        sessions = [{"sent": n, "from_journal": 1, "answered_by": {}} for n in sent]
        return Cell((), {}, name, write(tmp_path / name, {"one": ("k", [1])}, sessions=sessions), **facts)

    resumed, broken_off = cell("resumed", 100, 3, code=0), cell("broken-off", 100, code=1, error="no room")
    finished, parts = cell("finished", 100), [cell("part-1", 100), cell("part-2", 100, 4, code=0)]
    whole = cell("whole", 100, 100, 4, code=0, parts=parts)
    plan = [resumed, finished, broken_off, whole]
    assert calls(plan) == "calls:      7 sent, 2 answered by the journal, over 3 jobs"
    assert calls([finished]) == "calls:      none, all jobs were finished before"


def test_sweep_that_asked_no_model_has_the_date_of_the_newest_answer(tmp_path):
    def cell(name, written):
        session = {"sent": 0, "from_journal": 21, "journal_written": written}
        return Cell((), {}, name, write(tmp_path / name, {"one": ("k", [1])}, sessions=[session]), code=0)

    line = calls([cell("a", 1_600_000_000.0), cell("b", 1_700_000_000.0), cell("c", None)])
    assert line.startswith("calls:      0 sent, 63 answered by the journal, over 3 jobs, last written 2023-11-1")
    assert line.endswith(": no model was asked")


def jobs_of(home, jobs, **notes):
    """The table of jobs with these metrics (label -> name -> value), and its heads."""
    found = []
    for label, values in jobs.items():
        folder = write(home / label, {"one": ("k", [1, 0])}, **notes)
        metrics = {name: {"value": value} for name, value in values.items()}
        (folder / "metrics.json").write_text(json.dumps({"metrics": metrics, "strata": {}}))
        found.append(RunMetrics(Run.at(folder), label))
    sheet = jobs_table("2 of 2 jobs", found)
    return sheet, [(column.name, column.better) for column in sheet.columns]


def test_the_score_that_decides_is_the_first_and_named(tmp_path):
    jobs = {name: {"planning/x": 2.0, "score/x": 0.5, "time/seconds_p50": 0.25} for name in "ab"}
    sheet, heads = jobs_of(tmp_path, jobs, lower=["planning/x"], units={"planning/x": "steps"})
    assert heads == [("job", ""), ("score/x", "higher"), ("planning/x", "lower"), ("time/seconds_p50", "lower")]
    assert sheet.rows == [[name, 0.5, 2.0, 0.25] for name in "ab"] and sheet.columns[2].unit == "steps"
    assert sheet.notes == ["score/x decides; ↑ higher is better, ↓ lower"]


def test_the_mean_of_means_decides_where_there_is_one(tmp_path):
    jobs = {"a": {"score/x": 0.5, "total/score/x": 0.4}, "b": {"score/x": 0.5}}
    sheet, heads = jobs_of(tmp_path, jobs)
    assert [name for name, _ in heads] == ["job", "total/score/x", "score/x"]
    assert sheet.rows == [["a", 0.4, 0.5], ["b", None, 0.5]]
    assert sheet.notes == ["total/score/x and score/x decide; ↑ higher is better, ↓ lower"]


def test_a_score_without_a_direction_decides_too(tmp_path):
    jobs = {name: {"score/x": 9.0, "errors/rate": 0.0} for name in "ab"}
    sheet, heads = jobs_of(tmp_path, jobs, neither=["score/x"])
    assert heads == [("job", ""), ("score/x", "")], "what is 0 in all jobs is left out"
    assert sheet.notes[0].startswith("score/x decides")


def test_a_job_that_did_not_end_is_named(tmp_path):
    sheet, _ = jobs_of(tmp_path, {"a": {"score/x": 1.0}}, status="interrupted")
    assert sheet.notes[1] == "a: Status interrupted: 4 of 4 episodes finished, 0 errored."


def test_requested_scores_without_a_value_are_named(tmp_path):
    sheet, _ = jobs_of(tmp_path, {"a": {"score/x": 1.0}}, cfg={"compare": {"scores": ["no/such", "score/x"]}})
    assert sheet.notes[1] == "compare.scores: no job has a value of no/such"
