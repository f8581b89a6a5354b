"""Jobs in other processes are supervised, and missing launchers name their extra."""

import importlib.util
from pathlib import Path

import pytest

from runner.sweep.remote_job import JobResult, ProcessDied, RemoteJob, watch


class Script:
    """A scripted engine: how the processes of each job end, one after the other."""

    def __init__(self, **ends):
        self.ends = {name: iter(found) for name, found in ends.items()}
        self.stopped = False

    def play(self, queue):
        try:
            while queue:
                order = queue.popleft()
                yield order, next(self.ends[order.label])
        finally:
            self.stopped = True


def order(name):
    return RemoteJob(name, Path(name), {}, None, 2, None, None, "", (), ())


DEAD, WELL = ProcessDied("the power went"), JobResult(0, said="well\n")


@pytest.mark.parametrize(
    ("deaths", "code", "error"),
    [(0, 0, ""), (1, 0, ""), (2, 0, ""), (3, 1, "the power went, as in 2 earlier starts")],
)
def test_job_whose_process_dies_is_restarted_twice(capsys, deaths, code, error):
    engine = Script(a=[*[DEAD] * deaths, WELL], b=[WELL])
    first, second = watch(engine.play, [order("a"), order("b")])
    assert (first.code, first.error, second) == (code, error, WELL)
    out, err = capsys.readouterr()
    assert out.count("well") == (2 if code == 0 else 1)
    assert ("restarted after their processes died: a" in err) == (deaths > 0)


def test_an_interrupt_stops_the_processes():
    class Interrupted(Script):
        def play(self, queue):
            try:
                yield queue.popleft(), WELL
                raise KeyboardInterrupt
            finally:
                self.stopped = True

    engine = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        watch(engine.play, [order("a"), order("b")])
    assert engine.stopped


@pytest.mark.parametrize(
    ("launcher", "library", "extra"),
    [
        ("joblib", "hydra_plugins.hydra_joblib_launcher", "joblib"),
        ("submitit_local", "submitit", "submitit"),
        ("submitit_slurm", "submitit", "submitit"),
        ("ray", "ray", "ray"),
    ],
)
def test_missing_launcher_names_its_extra(home, launcher, library, extra):
    try:
        there = importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:
        there = False
    if there:
        pytest.skip(f"{library} is installed")
    done = home.run("-m", f"hydra/launcher={launcher}", "seed=0,1")
    assert done.code == 2
    assert f"needs an extra: pip install 'wardround[{extra}]'" in done.complaint
    assert not (home.path / "outputs").exists()
