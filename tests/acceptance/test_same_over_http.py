"""The same run in this process and through the HTTP server writes the same records."""

import json

import pytest

from runner.serve import from_arguments
from tests.acceptance.command import Served, endpoint, read_records, run_in_process
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

GRAMMARS = ("xml_call", "bracket_json", "native_tools")
CELLS = [f"agent-{agent}+grammar-{grammar}" for agent in ("radagent", "react") for grammar in GRAMMARS]
SWEEP = (
    "-m", "tracking=off", "limit=4", "hydra.sweep.dir=sweep", "agent=radagent,react", "condition=insufficient_config2",
    f"agent.grammar={','.join(GRAMMARS)}",
)  # fmt: skip


@pytest.fixture(scope="module")
def served():
    server, _, _ = from_arguments(["dataset=radabench_mini"])
    with Served(server) as served:
        yield served


@pytest.fixture(scope="module")
def sweeps(served, tmp_path_factory):
    inside, outside = tmp_path_factory.mktemp("inside"), tmp_path_factory.mktemp("outside")
    for cwd, words in ((inside, ["model=simulated"]), (outside, endpoint(served.url))):
        done = run_in_process(cwd, *SWEEP, *words, own=False)
        assert done.code == 0, done.err
    return inside / "sweep", outside / "sweep"


@each_row("cell", CELLS)
def test_records_in_process_and_over_http_are_the_same(sweeps, cell):
    inside, outside = (read_records(sweep / cell) for sweep in sweeps)
    assert len(inside) == 4
    assert inside == outside


def test_compared_runs_contain_answers_refusals_and_tool_calls(sweeps):
    records = [record for cell in CELLS for record in read_records(sweeps[1] / cell)]
    assert {"answered", "refused"} <= {record["stop"] for record in records}
    assert any(step.get("observed") for record in records for step in record["steps"])
    assert all(record["error"] is None or record["stop"] != "error" for record in records)


def test_metrics_in_process_and_over_http_are_the_same(sweeps):
    for cell in CELLS:
        inside, outside = (json.loads((sweep / cell / "metrics.json").read_text()) for sweep in sweeps)
        for metrics in (inside["metrics"], outside["metrics"]):
            for name in [name for name in metrics if name.startswith("time/")]:
                del metrics[name]
        assert inside["metrics"] == outside["metrics"]


def test_litellm_transport_writes_the_same_records(served, sweeps, tmp_path):
    words = (
        "tracking=off",
        "limit=4",
        "condition=insufficient_config2",
        "agent=react",
        "agent.grammar=native_tools",
        "model.transport=litellm",
    )
    done = run_in_process(tmp_path, *words, *endpoint(served.url), own=False)
    assert done.code == 0, done.err
    assert read_records(done.folder) == read_records(sweeps[0] / "agent-react+grammar-native_tools")
