"""Sweeps: checked before the first job, run one by one, resumed in the same folder."""

import json
import sys
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from components.core.errors import ConfigError
from runner.job.plan import Cell, cells
from runner.storage.records import RecordWriter
from runner.sweep.launcher import Sweeper, exit_code
from tests.slow import slow
from tests.table import each_row


def plan(*given, params=(), skip=()):
    parser = OverridesParser.create()
    skipped = [parser.parse_overrides(text.split()) for text in skip]
    return cells(parser.parse_overrides(list(params)), parser.parse_overrides(list(given)), skipped)


def labels(*given, params=()):
    return [cell.label for cell in plan(*given, params=params)]


def test_jobs_are_named_by_differing_settings():
    assert labels("agent=react,cot", "verifier.n=1,2", "limit=3") == [
        "agent-react+n-1", "agent-react+n-2", "agent-cot+n-1", "agent-cot+n-2",
    ]  # fmt: skip


def test_fields_of_the_same_name_keep_their_paths():
    assert labels("a.n=1,2", "b.n=3,4")[0] == "a.n-1+b.n-3"


def test_job_names_are_short_and_distinct_and_not_paths():
    long = labels(f"model.name='{'x' * 200}','{'x' * 199}y'")
    assert len(set(long)) == 2
    assert all(len(label) <= 80 for label in long)
    odd = labels("dataset.path=/a/b,/a-b,../../c")
    assert len(set(odd)) == 3
    assert not any("/" in label or ".." in label for label in odd)


def test_names_that_differ_only_in_case_get_distinct_folders():
    first, second = labels("model.name=a,A")
    assert first.lower() != second.lower()


def test_one_job_has_a_name_too():
    assert labels("seed=3") == ["only"]


def test_command_line_overrides_a_sweep_in_a_file():
    cells = plan("seed=5", params=["seed=1,2", "agent=react,cot"])
    assert [cell.overrides for cell in cells] == [("agent=react", "seed=5"), ("agent=cot", "seed=5")]


def test_excluded_combinations_are_left_out():
    swept, skip = ["verifier=refine,accept", "memory={k:true},{k:false}"], ["verifier=accept memory={k:false}"]
    made = [cell.label for cell in plan(params=swept, skip=skip)]
    assert made == ["verifier-refine+memory-k-True", "verifier-refine+memory-k-False", "verifier-accept+memory-k-True"]
    with pytest.raises(ConfigError, match=r"hydra\.sweeper\.skip leaves no job"):
        plan("verifier=accept", "memory={k:false}", params=swept, skip=skip)


@each_row(
    "words, message",
    [
        (["seed=1,2", "seed=3"], "seed is given twice in one sweep"),
        (["+seed=1", "seed=2,3"], "seed is given twice in one sweep"),
        (["seed=1,1"], "the same job twice: seed=1"),
        (["seed=range(0)"], "seed=range(0): the sweep is empty"),
        (["seed=range(0,100000000)"], "the sweep has more than 100,000 jobs"),
        (["seed=interval(0,1)"], "list the values"),
    ],
)
def test_invalid_sweep_is_refused(words, message):
    with pytest.raises(ConfigError) as caught:
        plan(*words)
    assert message in str(caught.value)


def jobs(home, folder="sweep"):
    return sorted(path.name for path in (home.path / folder).iterdir() if (path / "manifest.json").exists())


def status(home, job):
    return home.manifest(home.path / "sweep" / job)["status"]


SWEEP = ("-m", "hydra.sweep.dir=sweep")


def test_sweep_runs_all_jobs_and_prints_one_table(home):
    done = home.run("-m", "agent.times=1,2", "seed=1")
    assert done.code == 0, done.err
    (sweep,) = home.runs()
    names = ["times-1", "times-2"]
    reports = ["compare.json", "compare.md", "report.html", "report.md", "tables"]
    assert sorted(path.name for path in sweep.iterdir()) == [*reports, *names]
    assert "2 of 2 jobs" in done.out
    assert all(name in done.out for name in names)
    manifest = home.manifest(sweep / "times-2")
    assert manifest["sweep"] == sweep.name
    assert manifest["varied"] == {"agent.times": "2", "seed": "1"}


@slow
def test_all_bad_jobs_are_named_and_none_runs(home):
    done = home.run("-m", "agent=asks,nope", "limit=2,abc", "model.retries=1")
    lines = [line for line in done.err.splitlines() if line.startswith("config error: ")]
    assert done.code == 2
    assert any("job agent-nope+limit-2 and 1 more" in line and "did you mean" not in line for line in lines)
    assert any("job agent-asks+limit-abc" in line and "limit: found 'abc'" in line for line in lines)
    assert len(lines) == 2
    assert not (home.path / "outputs").exists()


def test_job_that_fails_does_not_stop_others(home):
    done = home.run(*SWEEP, "model.breaks=true,false")
    assert done.code == 1
    assert status(home, "breaks-false") == "complete"
    ended = [line for line in done.err.splitlines() if line.startswith("job ")]
    assert len(ended) == 1
    assert "breaks-true ended with exit code 1: RuntimeError: broken model" in ended[0]


@slow
def test_job_that_fails_before_its_start_returns_its_share_of_the_budget(home):
    words = ("budget.run.calls=4", "hydra.launcher.jobs=1", "model.max_connections=1")
    assert home.run(*SWEEP, "model.breaks=true,false", *words).code == 1
    assert status(home, "breaks-false") == "complete", "it has four samples with one call each"


LEAVES = """
import sys
from pathlib import Path
from dataclasses import dataclass
from mine.parts import Asks


@dataclass(frozen=True)
class Leaves(Asks):
    async def solve(self, episode):
        return sys.exit(4) if episode.problem.id == "q1" else await super().solve(episode)
"""


@slow
def test_agent_that_exits_fails_its_sample_and_stops_no_job(home):
    (home.path / "mine" / "leaves.py").write_text(LEAVES)
    home.write("agent/leaves", "_target_: mine.leaves.Leaves\ntimes: 1")
    done = home.run(*SWEEP, "agent=leaves,asks")
    assert done.code == 1
    counts = [home.manifest(home.path / "sweep" / f"agent-{name}")["counts"] for name in ("leaves", "asks")]
    assert [(one["finished"], one["errored"]) for one in counts] == [(4, 1), (4, 0)]


DEAD = """
from components.core.errors import ModelError
from mine.parts import Echo


class Dead(Echo):
    async def generate(self, request):
        raise ModelError("nobody listens", "connection")
"""


@slow
def test_dead_endpoint_stops_only_the_jobs_that_use_it(home):
    (home.path / "mine" / "dead.py").write_text(DEAD)
    home.write("model/dead", "_target_: mine.dead.Dead\nname: dead\nmax_connections: 2")
    done = home.run(*SWEEP, "model=dead,echo", "seed=0,1", "dataset.n=12", "hydra.launcher.jobs=1")
    assert done.code == 1
    notes = home.manifest(home.path / "sweep" / "model-dead+seed-0")
    assert notes["status"] == "interrupted" and notes["counts"]["errored"] in (10, 11)
    assert "10 samples errored in a row" in notes["stopped"]
    assert done.err.count("errored: connection: nobody listens") == 1
    assert "config error: job model-dead+seed-1: not started: its model returned errors to other jobs" in done.err
    assert jobs(home) == ["model-dead+seed-0", "model-echo+seed-0", "model-echo+seed-1"]


def test_jobs_that_ended_alike_share_a_line(capsys):
    plan = [Cell((), {}, label, Path("sweep") / label, code=2, error="no server") for label in "ab"]
    assert exit_code([*plan, Cell((), {}, "c", Path("sweep/c"), code=1)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "config error: 2 jobs (a, b): no server: sweep", "job c ended with exit code 1: sweep/c",
    ]  # fmt: skip


COUNTED = """
from mine.parts import Echo


class Counted(Echo):
    now = most = 0

    async def generate(self, request):
        Counted.now += 1
        Counted.most = max(Counted.most, Counted.now)
        try:
            return await super().generate(request)
        finally:
            Counted.now -= 1
"""


@slow
@pytest.mark.parametrize(("jobs", "most"), [("null", 6), ("1", 4)])
def test_jobs_share_the_connections_of_their_model(home, jobs, most):
    """Each has four samples, and the model has six connections."""
    (home.path / "mine" / "counted.py").write_text(COUNTED)
    words = ("model._target_=mine.counted.Counted", "model.max_connections=6", "model.pace.seconds=0.05")
    done = home.run(*SWEEP, "seed=0,1,2", *words, f"hydra.launcher.jobs={jobs}")
    assert done.code == 0, done.err
    assert sys.modules["mine.counted"].Counted.most == most


@pytest.mark.parametrize("jobs", ["0", "many", "true"])
def test_invalid_number_of_jobs_is_refused(home, jobs):
    done = home.run(*SWEEP, "seed=0,1", f"hydra.launcher.jobs={jobs}")
    assert done.code == 2
    assert done.complaint.startswith(f"command line: hydra.launcher.jobs={jobs}: hydra.launcher.jobs: found ")


def test_unknown_launcher_is_refused_with_the_available_extras(home):
    done = home.run(*SWEEP, "seed=0,1", "hydra/launcher=rya")
    assert done.code == 2
    assert "'rya'; did you mean ray? valid: joblib, ray, submitit_local, submitit_slurm, wardround" in done.complaint


def test_unknown_key_with_several_values_is_reported_once(home):
    done = home.run(*SWEEP, "agent.tims=1,2,3,4", "seed=0,1")
    assert done.code == 2
    assert "job tims-1+seed-0 and 7 more: command line: agent.tims=1: agent.tims: no such key" in done.complaint


@slow
def test_budget_is_shared_equally_by_all_jobs(home):
    done = home.run(*SWEEP, "seed=0,1", "budget.run.calls=6", "model.max_connections=1")
    assert done.code == 3
    sent = [home.manifest(home.path / "sweep" / f"seed-{n}")["calls"]["sent"] for n in (0, 1)]
    assert sent == [3, 3]
    varied = home.run("-m", "budget.run.calls=1,2")
    assert varied.code == 2 and "one budget for the whole sweep" in varied.err


@slow
def test_job_with_a_locked_folder_returns_its_share_of_the_budget(home):
    busy = RecordWriter(home.path / "sweep" / "seed-0")
    done = home.run(*SWEEP, "seed=0,1", "budget.run.calls=4", "model.max_connections=1")
    busy.close()
    assert done.code == 1 and "is in use by another process" in done.err
    assert "Traceback" not in done.err and "ConfigError" not in done.err, "it is a refusal and not a bug"
    assert status(home, "seed-1") == "complete"


@slow
def test_each_job_has_its_own_log(home):
    assert home.run(*SWEEP, "seed=0,1").code == 0
    for n in (0, 1):
        log = (home.path / "sweep" / f"seed-{n}" / "run.log").read_text()
        assert log.count("begun: ") == 1 and log.count("complete: ") == 1


@slow
def test_sweep_is_resumed_in_the_same_folder(home):
    """Finished jobs are unchanged, unfinished ones resumed, new ones added."""
    words = ("seed=0,1", "model.max_connections=1")
    done = home.run(*SWEEP, *words, "budget.run.calls=3")
    assert done.code == 3
    assert "hydra.sweep.dir=sweep" in done.err.splitlines()[-1]
    assert [status(home, f"seed-{n}") for n in (0, 1)] == ["budget", "budget"]
    assert home.run(*SWEEP, *words).code == 0
    before = (home.path / "sweep" / "seed-0" / "manifest.json").read_bytes()
    again = home.run(*SWEEP, "seed=0,1,2", "model.max_connections=1")
    assert again.code == 0
    assert "sweep of 3 jobs, 2 of them finished before" in again.err
    assert (home.path / "sweep" / "seed-0" / "manifest.json").read_bytes() == before
    for n in range(3):
        lines = (home.path / "sweep" / f"seed-{n}" / "records.jsonl").read_text().splitlines()
        assert sorted(json.loads(line)["sample_id"] for line in lines) == ["q0", "q1", "q2", "q3"]


@slow
def test_finished_job_without_records_or_metrics_restores_them(home):
    assert home.run(*SWEEP, "seed=0,1,2").code == 0
    cut, damaged, _ = folders = [home.path / "sweep" / f"seed-{n}" for n in range(3)]
    (cut / "records.jsonl").write_bytes((cut / "records.jsonl").read_bytes()[:-9])
    (damaged / "metrics.json").write_text("")
    done = home.run(*SWEEP, "seed=0,1,2")
    assert done.code == 2 and "records.jsonl and resume" in done.err and str(cut.name) in done.err
    (cut / "records.jsonl").unlink()
    done = home.run(*SWEEP, "seed=0,1,2")
    assert done.code == 0 and "finished before" in done.err and "3 of 3 jobs" in done.out
    for folder in folders:
        assert len((folder / "records.jsonl").read_text().splitlines()) == 4
        assert json.loads((folder / "metrics.json").read_text())["metrics"]


@slow
def test_the_same_folder_refuses_another_config(home):
    assert home.run(*SWEEP, "seed=0,1").code == 0
    done = home.run(*SWEEP, "seed=0,1", "limit=2")
    assert done.code == 2
    assert "limit was null, now is 2" in done.err


@slow
def test_experiment_may_define_its_sweep(home):
    home.write(
        "experiment/grid",
        "# @package _global_\ndefaults: [own]\nhydra: {mode: MULTIRUN, sweeper: {params: {seed: '0,1', agent.times: '1,2', limit: '1'}}}",
    )
    done = home.run("--config-dir", "conf", "experiment=grid", "hydra.sweep.dir=sweep", "seed=7", plain=True)
    assert done.code == 0, done.err
    assert jobs(home) == ["times-1", "times-2"]


def test_privacy_violation_stops_the_sweep(home):
    done = home.run(*SWEEP, "model.in_process=true,false", "dataset.privacy=phi")
    assert done.code == 2
    assert jobs(home) == ["in_process-false"]
    assert status(home, "in_process-false") == "refused"


def test_jobs_must_not_share_a_folder(home):
    done = home.run(*SWEEP, "hydra.sweep.subdir=all", "seed=0,1")
    assert (done.code, "several jobs would write to sweep/all" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("word", "message"), [("run.resume=last", "hydra.sweep.dir"), ("hydra.job.chdir=true", "remove them")]
)
def test_unsupported_sweep_options_are_refused(home, word, message):
    done = home.run("-m", "seed=0,1", word)
    assert (done.code, message in done.err) == (2, True)


@slow
def test_launchers_of_hydra_run_the_same_plan(home):
    """The basic launcher represents joblib, submitit and the like: each job is composed again where it runs."""
    done = home.run(*SWEEP, "hydra/launcher=basic", "seed=0,1")
    assert done.code == 0, done.err
    assert jobs(home) == ["seed-0", "seed-1"]
    assert "2 of 2 jobs" in done.out
    assert [home.manifest(home.path / "sweep" / job)["swept"] for job in jobs(home)] == [["seed"]] * 2


@each_row("skip", [5, None, [5], [{"agent": "react"}], [["agent=react"]], "agent=react"])
def test_jobs_to_leave_out_are_a_list_of_words(skip):
    with pytest.raises(ConfigError, match=r"hydra\.sweeper\.skip: found .* should be a list of jobs, each as words"):
        Sweeper(None, skip=skip)


def test_unreadable_exclusions_are_named(home):
    done = home.run(*SWEEP, "hydra.sweeper.skip=[agent]", "seed=0,1")
    assert done.code == 2 and done.complaint.startswith("hydra.sweeper.skip: 'agent' cannot be read")


def test_folder_of_another_sweep_is_refused_and_a_larger_one_goes_on(home):
    assert home.run("-m", "seed=0,1", "limit=1", "hydra.sweep.dir=sweep").code == 0
    report = (home.path / "sweep" / "report.html").read_bytes()
    done = home.run("-m", "agent.times=1,2", "limit=1", "hydra.sweep.dir=sweep")
    assert done.code == 2 and "sweep holds the jobs of another sweep (seed-0, ...)" in done.complaint
    done = home.run("-m", "seed=0,1", "limit=2", "agent.times=2", "hydra.sweep.dir=sweep")
    assert done.code == 2 and "limit was 1, now is 2; name another hydra.sweep.dir\n" in done.err
    assert (home.path / "sweep" / "report.html").read_bytes() == report
    done = home.run("-m", "seed=0,1,2", "limit=1", "hydra.sweep.dir=sweep")
    assert done.code == 0 and "over 1 job" in done.out
    assert "calls:      none" in home.run("-m", "seed=0,1,2", "limit=1", "hydra.sweep.dir=sweep").out


@slow
def test_sweep_whose_server_nobody_started_is_refused_as_a_run_is(home):
    model = "model=vllm", "model.name=x", "model.api_base=http://127.0.0.1:9/v1"
    done = home.run("-m", "agent.times=1,2", "limit=1", *model)
    assert done.code == 2 and done.err.count("start the server") == 1
    assert "config error: 2 jobs (times-1, times-2): " in done.err and "ERROR" not in done.err
