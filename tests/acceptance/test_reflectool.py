"""ReflecTool by the real command: a memory is made once, reused, separate from the evaluated samples, and refused."""

import json
import shutil

import pytest

from tests.acceptance.command import metric, read_manifest, run_in_process
from tests.slow import slow

pytestmark = slow

DATA = ("dataset=cab_mini", "dataset.tasks=[medqa,mmlu]", "dataset.per_task=4", "tracking=off")
FIRST = ("agent=reflectool", "verifier.n=4", "limit=3", *DATA)
REFUSED = {
    "agent=reflextool": "did you mean reflectool",
    "memory.path=nowhere": "there is no memory 'nowhere'",
    "memory.split=test": "learnt from another split than the evaluated one; there is train",
}


def text_after(out, label):
    """The text after a label on a line of the terminal output."""
    return next(line.partition(":")[2].strip() for line in out.splitlines() if line.startswith(f"{label}:"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder in which the first run made the memory."""
    home = tmp_path_factory.mktemp("reflectool")
    done = run_in_process(home, *FIRST, "hydra.run.dir=first", own=False)
    assert done.code == 0, done.err
    return home


@pytest.fixture(scope="module")
def memory(home):
    """The folder of the only memory."""
    (recipe,) = (home / "outputs/.memory/recipes").iterdir()
    return home / "outputs/.memory" / recipe.read_text()


def test_first_run_makes_the_memory_named_in_its_manifest(home, memory):
    notes = json.loads((memory / "manifest.json").read_text())
    assert read_manifest(home / "first")["memory"] == memory.name == notes["digest"]
    assert notes["split"] == "train" and len(notes["samples"]) == 8
    assert all("-train-" in sample for sample in notes["samples"])
    learnt = json.loads((memory / "tasks.json").read_text())
    assert [*learnt] == ["medqa", "mmlu"] and {one["tried"] for one in learnt.values()} == {4}
    for task, counts in learnt.items():
        place = memory / "tasks" / task
        items = [json.loads(path.read_text()) for path in (place / "long_term").iterdir()]
        assert len(items) == counts["solved"] > 0 and {item["task"]["dataset"] for item in items} == {task}
        assert (place / "experience" / f"step-{len(items)}.json").is_file()
    summary = ", ".join(f"{task} {n['solved']} of {n['tried']}" for task, n in learnt.items())
    assert f"training samples solved and kept, for each task: {summary}" in read_manifest(home / "first")["notes"]


def test_later_runs_and_the_stage_reuse_the_memory_without_calls(home, memory):
    words = ("run.journal=null", *DATA)
    named = ("verifier=select", "limit=2", "dataset=cab_mini", "dataset.tasks=[bioasq]", "tracking=off")
    done = {
        "again": run_in_process(home, *FIRST, *words[:1], "hydra.run.dir=again", own=False),
        "stage": run_in_process(home, "agent=reflectool", "stage=optimize", *words, own=False),
        "named": run_in_process(
            home, "agent=reflectool", f"memory.path={memory.name}", *named, "hydra.run.dir=named", own=False
        ),
    }
    assert {name: one.code for name, one in done.items()} == dict.fromkeys(done, 0), done
    for name in ("again", "named"):
        notes = read_manifest(home / name)
        assert notes["memory"] == memory.name
        assert notes["calls"]["sent"] == metric(home / name, "calls/total") > 0
        assert ("nothing was learnt for the tasks bioasq" in notes["notes"]) is (name == "named")
    assert text_after(done["stage"].out, "memory").startswith(f"outputs/.memory/{memory.name} ")
    assert text_after(done["stage"].out, "calls").startswith("0 sent")
    assert [path.name for path in (home / "outputs/.memory").iterdir() if len(path.name) == 16] == [memory.name]


def test_stage_alone_makes_a_memory_and_no_run(tmp_path, memory):
    done = run_in_process(tmp_path, "agent=reflectool", "stage=optimize", *DATA, own=False)
    assert done.code == 0, done.err
    assert text_after(done.out, "memory").startswith(f"outputs/.memory/{memory.name} ")
    assert {path.name for path in (tmp_path / "outputs").iterdir()} == {".journal", ".memory"}


def test_invalid_memory_settings_are_refused_in_one_line(home):
    words = ("agent=reflectool", *DATA)
    for bad, why in REFUSED.items():
        done = run_in_process(home, *words, bad, own=False)
        assert done.code == 2, (bad, done)
        assert len(done.err.splitlines()) == 1 and why in done.err, (bad, done.err)


def test_run_is_not_resumed_with_another_memory(home, memory):
    shutil.copytree(memory, home / "elsewhere" / ("0" * 16))
    shutil.copytree(home / "outputs/.memory/recipes", home / "elsewhere/recipes")
    (recipe,) = (home / "elsewhere/recipes").iterdir()
    recipe.write_text("0" * 16)
    (home / "elsewhere" / ("0" * 16) / "manifest.json").unlink()
    words = (*FIRST, "run.resume=first")
    named = run_in_process(home, *words, f"memory.path={memory.name}", own=False)
    moved = run_in_process(home, *words, "run.memory=elsewhere", own=False)
    assert (named.code, moved.code) == (2, 2)
    assert f'memory.path was null, now is "{memory.name}"' in named.err
    assert "has no manifest.json; delete the folder" in moved.err


def test_any_agent_works_with_any_verifier(tmp_path):
    words = ("agent=react", "verifier=select", "verifier.n=4", "dataset=cab_mini", "dataset.per_task=1", "tracking=off")
    quick = "toolset.use=[Medrag,UMLS,Calculator,SQLCoder,LongDocRAG,HuatuoGPT]"  # those that load no language model
    done = run_in_process(tmp_path, *words, quick, own=False)
    assert done.code == 0, done.err
    notes = read_manifest(done.folder)
    assert notes["counts"] == {"finished": 18, "wanted": 18, "errored": 0} and notes["memory"] is None
    assert metric(done.folder, "calls/total") > 4 * 18
    assert not (tmp_path / "outputs/.memory").exists()
