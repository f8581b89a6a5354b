"""Every experiment that ships runs with the simulated model, with 4 samples per job or task, and no sample errors."""

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.acceptance.command import run_in_process
from tests.slow import slow

FOLDER = Path(__file__).resolve().parents[2] / "conf/experiment"
PATHS = {str(path.relative_to(FOLDER).with_suffix("")): path for path in sorted(FOLDER.rglob("*.yaml"))}
DATA = os.environ.get("CLINICAL_DATA_DIR")
WHOLE = {"radabench/fig6b": ("dataset.records=2", "epochs=2")}  # experiments that select their data in another way
NEEDS_A_SERVER = ("radabench/models_published", "reflectool/models_published")


def small_overrides(name):
    """Overrides that make an experiment small."""
    if name in WHOLE:
        return WHOLE[name]
    return ("dataset.per_task=4",) if name.startswith("reflectool/") else ("limit=4",)


def world_of_the_tasks(path):
    """A server's export with the patients of MedAgentBench's tasks alone. Returns the override that names it."""
    tasks = json.loads(Path(DATA, "medagentbench/data/medagentbench/test_data_v2.json").read_text())
    patients = [
        {"resourceType": "Patient", "id": one, "birthDate": "1960-02-29"}
        for one in {task.get("eval_MRN") for task in tasks} - {None}
    ]
    path.write_text("\n".join(map(json.dumps, patients)))
    return f"dataset.world={path}"


@slow
@pytest.mark.parametrize("name", [name for name in PATHS if name not in NEEDS_A_SERVER])
def test_experiment_runs_without_errors(name, tmp_path):
    if name.startswith(("medagents/", "fhir/medagentbench")) and not DATA:
        pytest.skip("reads CLINICAL_DATA_DIR")
    swept = yaml.safe_load(PATHS[name].read_text()).get("hydra", {}).get("sweeper", {}).get("params")
    words = ("-m", "hydra.sweep.dir=out") if swept else ("hydra.run.dir=out",)
    words += (world_of_the_tasks(tmp_path / "world.ndjson"),) if name == "fhir/medagentbench" else ()
    done = run_in_process(tmp_path, f"experiment={name}", *words, *small_overrides(name), "tracking=off", own=False)
    assert done.code == 0, done.err
    runs = [json.loads(path.read_text()) for path in (tmp_path / "out").rglob("manifest.json")]
    counts = [run["counts"] for run in runs if run.get("counts")]
    assert counts and all(one["finished"] and not one["errored"] for one in counts)
