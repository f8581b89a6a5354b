"""A sweep over model configs: each uses its own server and name, and all are in one table."""

import csv
import json
from dataclasses import dataclass, field

import pytest

from components.models.simulated import Simulated
from components.models.simulated.serve import Server
from runner.serve import from_arguments
from tests.acceptance.command import Served, run_in_process
from tests.slow import slow

pytestmark = slow

ENTRY = """# A model of a user's own.
defaults: [/model/vllm@_here_, _self_]
name: {name}
api_base: {url}
context: 9000
price: {{input: {price}, output: 0}}  # USD per million tokens
temperature: {temperature}
"""
PRICES = {"lab-small-2026-01-02": 2.0, "lab-big-2026-03-04": 50.0}
COMPETENCE = {"lab-small-2026-01-02": 0.2, "lab-big-2026-03-04": 1.0}


@dataclass
class Listening(Server):
    """Keeps the requests it receives."""

    asked: list = field(default_factory=list)

    async def _complete(self, request):
        self.asked.append(await request.json())
        return await super()._complete(request)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """The folder of a sweep over two custom models, each on its own server, and a built-in simulated one."""
    home = tmp_path_factory.mktemp("models")
    (home / "conf/model/mine").mkdir(parents=True)
    (home / "conf/experiment").mkdir()
    servers = []
    for n, (name, price) in enumerate(PRICES.items()):
        known, _, _ = from_arguments(["dataset=radabench_mini", f"model.competence={COMPETENCE[name]}"])
        assert isinstance(known.model, Simulated)
        served = Served(Listening(known.model, names=[name]))
        servers.append(served)
        text = ENTRY.format(name=name, url=served.url, price=price, temperature=n / 10)
        (home / f"conf/model/mine/{name.split('-')[1]}.yaml").write_text(text)
    (home / "conf/experiment/mine.yaml").write_text(
        "# @package _global_\n# Which of our models is better?\ndefaults: [radabench/models]\n"
        "hydra: {sweeper: {params: {model: 'mine/small,mine/big,simulated/weak', condition: 'baseline,insufficient_config1'}}}\n"
    )
    words = (
        "--config-dir",
        str(home / "conf"),
        "-m",
        "experiment=mine",
        "limit=4",
        "tracking=off",
        "hydra.sweep.dir=sweep",
    )
    done = run_in_process(home, *words, own=False)
    assert done.code == 0, done.err
    yield home / "sweep", done, [served.server.asked for served in servers]
    for served in servers:
        served.die()


def manifests(folder, model):
    return [json.loads(path.read_text()) for path in folder.glob(f"model-{model}+*/manifest.json")]


def test_requests_have_the_address_name_and_settings_of_each_model(sweep):
    _, _, requests = sweep
    for n, (name, bodies) in enumerate(zip(PRICES, requests, strict=True)):
        assert bodies and {body["model"] for body in bodies} == {name}
        assert {body["temperature"] for body in bodies} == {n / 10}


def test_simulated_model_is_recorded_as_such_under_any_name(sweep):
    for name in PRICES:
        found = manifests(sweep[0], f"mine-{name.split('-')[1]}")
        assert found and all(one["model_kind"] == "live" for one in found)
        assert all(
            session["answered_by"] == {"main": [f"simulated:{name}"]} for one in found for session in one["sessions"]
        )


def test_cost_follows_the_price_in_the_model_config(sweep):
    folder, _, _ = sweep
    for name, price in PRICES.items():
        found = manifests(folder, f"mine-{name.split('-')[1]}")
        assert len(found) == 2
        for manifest in found:
            assert manifest["prices"]["main"]["source"] == "model.price"
            assert manifest["prices"]["main"]["context_tokens"] == 9000
        for path in folder.glob(f"model-mine-{name.split('-')[1]}+*/metrics.json"):
            metrics = json.loads(path.read_text())["metrics"]
            assert metrics["cost/usd"]["value"] == pytest.approx(metrics["tokens/input"]["value"] * price / 1e6)


def test_report_has_a_row_per_model_and_a_plot_per_figure(sweep):
    folder, _, _ = sweep
    with (folder / "tables/models-by-model.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows[1:]] == ["mine/small", "mine/big", "simulated/weak"]
    page = (folder / "report.html").read_text()
    for title in ("Completion by complexity, with just the tools needed", "Refusing where tools are missing"):
        assert title in page
    assert "Choosing among tools that all fit" not in page  # that condition was not swept


def test_run_of_a_retired_model_can_be_replayed_but_not_rerun(sweep):
    folder, _, requests = sweep
    home, before = folder.parent, len(requests[1])
    gone = "model.retired={by: Lab, instead: openai, since: '2000-01-01'}"
    words = (
        "--config-dir", str(home / "conf"), "experiment=mine", "model=mine/big", "condition=baseline", "limit=4",
        "tracking=off", gone,
    )  # fmt: skip
    refused = run_in_process(home, *words, own=False)
    assert refused.code == 2 and "Lab retired 'lab-big-2026-03-04' on 2000-01-01" in refused.err
    replayed = run_in_process(home, *words, "run.replay=true", own=False)
    assert replayed.code == 0, replayed.err
    assert len(requests[1]) == before
