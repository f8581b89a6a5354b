import orjson
import pytest

from components.core.errors import ToolError
from components.core.tools import Tool
from components.tools.drug_table import DrugTable
from components.tools.drugbank import DrugBank
from components.tools.openfda import OpenFda
from tests.components.tools.service import At


@pytest.fixture
def tool(tmp_path):
    (tmp_path / "d.jsonl").write_bytes(orjson.dumps({"name": "Warfarin", "synonyms": ["Coumadin"]}))
    return DrugBank(DrugTable(path=str(tmp_path / "d.jsonl")))


async def test_a_drug_is_one_json_object(tool):
    found = await tool(At(), drug_name="coumadin")
    assert list(orjson.loads(found.text)) == ["name", "description", "state", "indication", "dosages", "synonyms"]
    assert found.data == {"name": "Warfarin", "match": "exact", "similarity": 1.0}


async def test_a_merely_similar_name_is_reported_as_such(tool):
    warning, drug = (await tool(At(), drug_name="warfrain")).text.split("\n")
    assert "'warfrain'" in warning and orjson.loads(drug)["name"] == "Warfarin"


async def test_failures_have_their_labels(tool, tmp_path):
    labels = []
    for other, name in ((tool, "zzz"), (tool, ""), (DrugBank(DrugTable(path=str(tmp_path / "x"))), "warfarin")):
        with pytest.raises(ToolError) as caught:
            await other(At(), drug_name=name)
        labels.append(caught.value.label)
    assert labels == ["not_found", "bad_arguments", "unavailable"]


def test_it_is_a_tool_with_the_effect_of_its_source(tool):
    assert isinstance(tool, Tool) and tool.spec.name == "DrugBank" and tool.spec.facts == {"dimension": "knowledge"}
    assert (tool.effect, DrugBank(OpenFda()).effect) == ("pure", "external")
    assert "api.fda.gov" in DrugBank(OpenFda()).identity
