import json
from dataclasses import replace
from itertools import pairwise

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.tools import Tool
from components.tools.entity_recognizor import EntityRecognizor, Mention, longest
from tests.slow import slow

ROWS = [
    {"cui": "X1", "name": "Heart failure", "synonyms": ["cardiac failure", "HF"], "semantic_type": "Disease"},
    {"cui": "X2", "name": "Beta-blocker", "synonyms": ["beta blocker"], "semantic_type": "Drug"},
    {"cui": "X3", "name": "Zorblax", "synonyms": [], "semantic_type": "Drug"},
]


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "v.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return EntityRecognizor(vocabulary=[str(path)])


async def recognize(tool, text):
    found = json.loads((await tool(None, sentence=text)).text)
    assert all(one["entity"] == text[one["start"] : one["end"]] for one in found)
    assert all(one["end"] <= other["start"] for one, other in pairwise(found))
    return found


async def test_vocabulary_terms_carry_their_concept(tool):
    found = await recognize(tool, "HF is treated with beta - blockers and zorblax.")
    assert found[0] == {"entity": "HF", "start": 0, "end": 2, "cui": "X1", "name": "Heart failure", "type": "Disease"}
    assert [(one["entity"], one["cui"]) for one in found[1:]] == [("beta - blockers", "X2"), ("zorblax", "X3")]


async def test_the_longest_mention_counts_and_phrases_need_no_vocabulary(tool):
    found = await recognize(tool, "Acute heart failure follows a viral myocarditis.")
    assert [one["entity"] for one in found] == ["Acute heart failure", "viral myocarditis"]
    assert all("cui" not in one for one in found)


async def test_abbreviations_lead_back_to_their_long_form(tool):
    found = await recognize(tool, "Cardiac failure (CF) is common. CF thrives at night.")
    assert [one["entity"] for one in found] == ["Cardiac failure", "CF", "CF"]
    assert [one["cui"] for one in found] == ["X1"] * 3
    assert found[2]["long_form"] == "Cardiac failure" and "long_form" not in found[0]


async def test_a_text_without_mentions_gives_an_empty_list(tool):
    assert await recognize(tool, "We met at noon.") == []


async def test_it_works_without_a_vocabulary():
    seen = await EntityRecognizor()(None, sentence="She has pneumonia.")
    assert seen.data == {"mentions": [{"entity": "pneumonia", "start": 8, "end": 17, "origin": "phrase"}]}


@slow
async def test_an_installed_pipeline_takes_the_place_of_the_rules(tool, pipeline):
    found = await recognize(replace(tool, model=pipeline), "Ada Quill has gout, pneumonia and heart failure.")
    assert [one["entity"] for one in found] == ["Ada Quill", "gout", "heart failure"]


async def test_a_missing_dependency_is_reported_and_no_result_is_invented(tmp_path):
    for tool, says in (
        (EntityRecognizor(vocabulary=[str(tmp_path / "none.jsonl")]), "none.jsonl"),
        (EntityRecognizor(model="no_such_pipeline"), "'no_such_pipeline' is not installed"),
    ):
        assert says in tool.missing
        with pytest.raises(ToolError, match=says) as caught:
            await tool(None, sentence="gout")
        assert caught.value.label == "unavailable"


def test_a_vocabulary_in_another_form_is_refused_at_once(tmp_path):
    path = tmp_path / "v.jsonl"
    path.write_text('{"cui": "X"}\n')
    with pytest.raises(ConfigError, match=r"v\.jsonl:1: name: is missing"):
        EntityRecognizor(vocabulary=[str(path)])


async def test_it_is_a_pure_data_tool(tool):
    assert isinstance(tool, Tool) and tool.effect == "pure" and tool.missing == ""
    assert tool.spec.facts == {"dimension": "data"}
    with pytest.raises(ToolError) as caught:
        await tool(None, sentence=["gout"])
    assert caught.value.label == "bad_arguments"


def test_of_equal_mentions_the_more_certain_one_counts():
    phrase, word = Mention(0, 4, "phrase"), Mention(0, 4, "vocabulary")
    assert longest([phrase, word, Mention(3, 5, "model"), Mention(4, 6, "model")], 6) == [word, Mention(4, 6, "model")]
