import orjson
import pytest

from components.core.errors import ToolError
from components.core.tools import Tool
from components.tools.umls import UMLS
from components.tools.uts import Uts
from components.tools.vocabulary import Vocabulary
from tests.components.tools.service import At


@pytest.fixture
def tool(tmp_path):
    row = {
        "cui": "C1", "name": "Asthma", "synonyms": ["Bronchial asthma"], "semantic_type": "Disease",
        "definition": "Airways narrow.", "definition_source": "MSH",
        "relations": [{"from": "Asthma", "label": "affects", "to": f"Airway {n}"} for n in range(6)],
    }  # fmt: skip
    (tmp_path / "v.jsonl").write_bytes(orjson.dumps(row))
    return UMLS(Vocabulary(path=str(tmp_path / "v.jsonl")))


async def test_a_concept_is_described_in_lines(tool):
    found = await tool(At(), medical_terminology="bronchial ASTHMA")
    assert found.text.startswith("Name: Asthma (C1)\nDefinition: Airways narrow. (MSH)\nRelations:\n(Asthma, affects,")
    assert len(found.text.splitlines()) == 8
    assert found.data["cui"] == "C1" and found.data["source"] == "MSH" and len(found.data["relations"]) == 5
    assert found.data["relations"][0] == {"source": "Asthma", "label": "affects", "target": "Airway 0"}


async def test_no_concept_and_no_service_are_distinguished(tool):
    labels = []
    for other, term in ((tool, "zebra"), (tool, 3), (UMLS(Uts()), "asthma")):
        with pytest.raises(ToolError) as caught:
            await other(At(), medical_terminology=term)
        labels.append(caught.value.label)
    assert labels == ["empty", "bad_arguments", "unavailable"] and "UMLS_API_KEY" in str(caught.value)


def test_it_is_a_tool_with_the_effect_of_its_source(tool):
    assert isinstance(tool, Tool) and tool.spec.name == "UMLS" and tool.spec.facts == {"dimension": "knowledge"}
    assert (tool.effect, UMLS(Uts()).effect) == ("pure", "external")
    assert UMLS(Uts()).identity != UMLS(Uts(version="2024AB")).identity
