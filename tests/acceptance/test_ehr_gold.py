"""The gold SQL of every question, replayed as code through the tools in the sandbox, is correct on all of them."""

import os
from pathlib import Path

import pytest

from components.acting.solved import SolvedQuestions
from components.core.plain import Accept
from components.ehr.agent import EhrAgent
from components.ehr.datasets.ehrsql import EhrAgentEdition
from components.ehr.datasets.ehrsql2024 import Ehrsql2024
from components.ehr.scorer import Ehr as EhrScorer
from components.ehr.toolset import Ehr
from components.grammars.code_block import CodeBlock
from components.models.scripted import Scripted
from runner.episode.door import Door
from runner.episode.shared import Parts
from runner.job.execute import Execution, Outcome
from runner.storage.records import RecordWriter, read
from tests.parts import Intact
from tests.slow import slow
from tests.wards import cell, sandbox

pytestmark = slow

DATA = os.environ.get("CLINICAL_DATA_DIR")
AGENT = EhrAgent(knowledge=False, debugger=False, shots=0)


def shipped(_: Path) -> EhrAgentEdition:
    return EhrAgentEdition(
        "ehr_mini", shipped="ehr_mini", databases=("mimic_iii", "eicu", "treqs"), questions="{database}/{split}.json",
        sqlite="{database}/{database}.sqlite", unanswerable=True, count_joins=True, privacy="open",
    )  # fmt: skip


def demo(_: Path) -> EhrAgentEdition:
    return EhrAgentEdition("ehragent_demo", path=f"{DATA}/ehragent_demo", privacy="open")


def shared_task(folder: Path) -> Ehrsql2024:
    return Ehrsql2024(f"{DATA}/ehrsql2024", cache=str(folder / "cache"))


REAL = pytest.mark.skipif(not DATA, reason="reads CLINICAL_DATA_DIR")
DATASETS = [shipped, pytest.param(demo, marks=REAL), pytest.param(shared_task, marks=REAL)]


@pytest.mark.parametrize("dataset", DATASETS)
async def test_gold_sql_is_correct_on_every_executable_question(dataset, tmp_path):
    samples = [one for one in dataset(tmp_path).load("test") if one.metadata.get("executable") is not False]
    assert len(samples) > 200
    gold = {one.problem.id: one.metadata["sql"] for one in samples}

    def say(request):
        sql = gold[request.sample_id]
        if sql is None:
            return 'Refuse[{"reason": "no table holds it"}]'
        return cell(f"answer = SQLInterpreter({sql!r})", "TERMINATE")

    door = Door({"main": Scripted(say)}, None, run_seed=0)
    parts = Parts(AGENT, Accept(), CodeBlock(), Ehr({}, sandbox(), str(tmp_path / "columns")), Intact(),
                  {"ehr": EhrScorer()}, memory=SolvedQuestions("m", ()))  # fmt: skip
    writer = RecordWriter(tmp_path / "run")
    await Execution(parts, door, writer, Outcome()).run(samples, 1)
    writer.close()
    wrong = {
        r["sample_id"]: (r["error"], r["explanations"])
        for r in read(tmp_path / "run")
        if r["scores"].get("score/strict") != 1.0
    }
    assert not wrong, wrong
