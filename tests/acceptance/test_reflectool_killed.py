"""kill -9 while a memory is made: no finished call is paid twice, and the memory is that of an undisturbed run."""

import json

import pytest

from components.cab.datasets.cab import Cab
from components.models.simulated.serve import Server
from tests.acceptance.command import INTERRUPT, KILL, Served, endpoint, read_manifest, resume_printed, run, start
from tests.simulated import simulated
from tests.slow import slow

pytestmark = slow

TASKS = ("medqa", "mmlu", "medhalt_rht")
WORDS = (
    "agent=reflectool", "dataset=cab_mini", f"dataset.tasks=[{','.join(TASKS)}]", "dataset.per_task=4", "tracking=off",
    "model.max_connections=4",
)  # fmt: skip
CONNECTIONS = 4


def served():
    """The simulated core behind HTTP, with the training and the evaluated samples."""
    data = Cab(shipped="cab_mini", tasks=TASKS, privacy="open")
    core = simulated()
    core.study([*data.load("train"), *data.load("test")])
    return Served(Server(core, latency=0.01))


def memory_of(home):
    """The files of the only memory: name and content."""
    (recipe,) = (home / "outputs/.memory/recipes").iterdir()
    folder = home / "outputs/.memory" / recipe.read_text()
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.json")}
    return folder.name, {name: text for name, text in files.items() if name != "manifest.json"}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The stage without interruption: its folder and its number of requests."""
    home = tmp_path_factory.mktemp("undisturbed")
    with served() as server:
        done = run(home, *WORDS, "stage=optimize", *endpoint(server.url), own=False)
        assert done.code == 0, done.err
        return home, server.seen["requests"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory, undisturbed):
    """The stage killed midway and then finished: its folder, the requests at the kill and in total."""
    home, (_, whole) = tmp_path_factory.mktemp("killed"), undisturbed
    with served() as server:
        words = (*WORDS, "stage=optimize", *endpoint(server.url))
        process = start(home, *words, own=False).when(lambda: server.seen["requests"] >= whole // 2)
        process.signal(KILL)
        assert process.done().code == -KILL
        assert [path.read_text() for path in (home / "outputs/.memory/recipes").iterdir()] == [""]  # the lock
        at_kill = server.seen["requests"]
        done = run(home, *words, own=False)
        assert done.code == 0, done.err
        return home, at_kill, server.seen["requests"]


def test_finished_calls_are_not_paid_twice(killed, undisturbed):
    _, at_kill, in_all = killed
    assert 0 < at_kill < undisturbed[1] <= in_all <= undisturbed[1] + CONNECTIONS


def test_memory_equals_that_of_an_undisturbed_run(killed, undisturbed):
    assert memory_of(killed[0]) == memory_of(undisturbed[0])
    assert json.loads(memory_of(killed[0])[1]["provenance.json"])


def test_interrupted_run_resumes_in_the_middle_of_its_memory(tmp_path, undisturbed):
    with served() as server:
        words = (*WORDS, "limit=2", *endpoint(server.url), "hydra.run.dir=run")
        process = start(tmp_path, *words, own=False).when(lambda: server.seen["requests"] >= undisturbed[1] // 2)
        process.signal(INTERRUPT)
        stopped = process.done()
        assert stopped.code == 130 and "run.resume=run" in stopped.err
        assert resume_printed(tmp_path, stopped.err).code == 0
        notes = read_manifest(tmp_path / "run")
        assert notes["memory"] == memory_of(tmp_path)[0] == memory_of(undisturbed[0])[0]
        assert notes["status"] == "complete" and notes["counts"]["finished"] == 2
        n_calls = json.loads((tmp_path / "run/metrics.json").read_text())["metrics"]["calls/total"]["value"]
        assert server.seen["requests"] <= undisturbed[1] + n_calls + CONNECTIONS
