import orjson
import pytest

from components.core.errors import ToolError
from components.core.tools import Tool
from components.tools.medrag import Medrag
from components.tools.passages import LocalCorpora
from components.tools.pubmed import PubMed
from tests.components.tools.service import At


@pytest.fixture
def folder(tmp_path):
    rows = [{"id": f"p{n}", "title": f"Title {n}", "content": f"warfarin\nraises\tINR {'x ' * n}"} for n in range(8)]
    (tmp_path / "book.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return LocalCorpora(path=str(tmp_path))


async def test_each_passage_is_a_line(folder):
    found = await Medrag(folder)(At(), query="warfarin")
    lines = found.text.splitlines()
    assert len(lines) == 5 and lines[0] == "[1] (Title 0) warfarin raises INR"
    assert [one["id"] for one in found.data["passages"]] == ["p0", "p1", "p2", "p3", "p4"]
    assert found.data["passages"][0].keys() == {"id", "title", "source", "score"}


async def test_the_whole_text_is_cut(folder):
    assert len((await Medrag(folder, longest=50)(At(), query="warfarin")).text) == 50
    assert Medrag(folder).longest == 2048 and Medrag(folder).k == 5


async def test_no_passage_is_empty_and_no_corpus_is_unavailable(folder, tmp_path):
    with pytest.raises(ToolError) as empty:
        await Medrag(folder)(At(), query="zebra")
    with pytest.raises(ToolError, match="there is no") as absent:
        await Medrag(LocalCorpora(path=str(tmp_path / "x")))(At(), query="warfarin")
    assert (empty.value.label, absent.value.label) == ("empty", "unavailable")


@pytest.mark.parametrize("query", ["", "  ", None, 5, ["warfarin"]])
async def test_a_query_must_be_a_text(folder, query):
    with pytest.raises(ToolError) as caught:
        await Medrag(folder)(At(), query=query)
    assert caught.value.label == "bad_arguments"


def test_it_is_a_tool_with_the_effect_of_its_source(folder):
    local, remote = Medrag(folder), Medrag(PubMed())
    assert isinstance(local, Tool) and local.spec.name == "Medrag" and local.spec.facts == {"dimension": "knowledge"}
    assert (local.effect, remote.effect) == ("pure", "external")
    assert "https://" in remote.identity and remote.identity != Medrag(PubMed(), k=3).identity
