"""A model whose window is too small: episodes that fail by it are scored, counted, rated, replayed and not run again."""

import json

import pytest

from components.models.simulated.serve import from_arguments
from tests.acceptance.command import Served, endpoint, here, told

WORDS = ("experiment=hello", "dataset=ehr_mini", "toolset=ehr", "scorer=ehr", "condition=intact", "tracking=off", "limit=4",
         "hydra.run.dir=run")  # fmt: skip


@pytest.fixture(scope="module")
def served():
    server, _, _ = from_arguments(["--dataset", "ehr_mini", "--context-tokens", "20"])
    with Served(server) as served:
        yield served


@pytest.fixture(scope="module", params=["ehragent", "react", "self_consistency"])
def done(request, served, tmp_path_factory):
    home = tmp_path_factory.mktemp(request.param)
    ended = here(home, *WORDS, f"agent={request.param}", *endpoint(served.url), own=False)
    return ended, home, request.param


def test_a_run_whose_samples_all_overflow_ends_with_its_metrics(done):
    ended, home, _ = done
    assert ended.code == 0, ended.err
    metrics = json.loads((home / "run" / "metrics.json").read_text())["metrics"]
    for name in ("score/strict", "ehr/completed", "reliability/rs_10"):
        assert (metrics[name]["value"], metrics[name]["n"]) == (0.0, 4)
    assert (metrics["errors/context_length"]["value"], metrics["errors/context_length"]["n"]) == (1.0, 4)
    assert (metrics["errors/rate"]["value"], metrics["stop/failed"]["value"]) == (0.0, 1.0)
    assert "| errors/context_length | 1.0000 |" in (home / "run" / "report.md").read_text()
    assert "4 of 4 episodes failed: longer than the model's context window" in ended.out


def test_records_say_why(done):
    for record in told(done[1] / "run"):
        assert (record["stop"], record["failure"]) == ("failed", "context_length")
        assert "maximum context length is 20 tokens" in record["error"]
