from dataclasses import dataclass, field
from typing import Any

import pytest

from components.core.errors import ConfigError, ToolError
from components.core.messages import Message
from components.core.tools import Tool
from components.files.attachments import SampleFiles
from components.tools.long_doc_rag import LongDocRAG
from tests.components.tools.service import At


@dataclass
class Speaking(At):
    """A place with a model behind it."""

    reply: str = ""
    asked: list[Any] = field(default_factory=list)

    async def ask(self, messages, purpose="tool", sampling=None, role="tool"):
        self.asked.append((messages, purpose))
        return Message("assistant", self.reply)


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "secret" / "letters"
    folder.mkdir(parents=True)
    (folder / "letter_1.txt").write_text("Admitted for asthma.\nDischarged on salbutamol.")
    (folder / "letter_2.txt").write_text("Seen for gout. Given allopurinol 100 mg.")
    return SampleFiles({"documents": folder, "one": folder / "letter_2.txt"})


async def test_passages_are_shown_with_file_and_position(files):
    found = await LongDocRAG(k=1)(At(files), path="documents", query="allopurinol dose")
    assert found.text == "[1] letter_2.txt, words 1-7 of 7:\nSeen for gout. Given allopurinol 100 mg."
    (fact,) = found.data["passages"]
    assert (fact["file"], fact["first_word"], fact["last_word"]) == ("letter_2.txt", 1, 7)
    assert (fact["start"], fact["end"]) == (0, 40) and fact["score"] > 0
    assert "letter_2.txt" in (await LongDocRAG()(At(files), path="one", query="gout")).text


async def test_changed_files_are_read_again_and_nothing_is_written(files):
    tool, folder = LongDocRAG(), files.paths["documents"]
    await tool(At(files), path="documents", query="gout")
    (folder / "letter_2.txt").write_text("Now she has psoriasis.")
    assert "psoriasis" in (await tool(At(files), path="documents", query="psoriasis")).text
    assert sorted(path.name for path in folder.iterdir()) == ["letter_1.txt", "letter_2.txt"]


@pytest.mark.parametrize(
    ("path", "query", "label"),
    [
        ("documents", "zebra", "empty"),
        ("other", "gout", "not_found"),
        ("", "gout", "bad_arguments"),
        ("documents", None, "bad_arguments"),
    ],
)
async def test_failures_have_their_labels_and_show_no_path(files, path, query, label):
    with pytest.raises(ToolError) as caught:
        await LongDocRAG()(At(files), path=path, query=query)
    assert caught.value.label == label and "secret" not in str(caught.value)


async def test_an_absolute_path_is_not_an_input(files):
    with pytest.raises(ToolError) as caught:
        await LongDocRAG()(At(files), path=str(files.paths["one"]), query="gout")
    assert caught.value.label == "not_found"


async def test_the_model_answers_from_the_passages_on_wish(files):
    context = Speaking(files, reply=" Allopurinol 100 mg [1]. ")
    found = await LongDocRAG(synthesis=True)(context, path="documents", query="Which drug for gout?")
    assert found.text == "Allopurinol 100 mg [1]." and found.data["passages"][0]["file"] == "letter_2.txt"
    (((message,), purpose),) = context.asked
    assert purpose == "tool" and "[1] letter_2.txt, words 1-7 of 7:\nSeen for gout." in message.text
    assert "Which drug for gout?" in message.text and message.source == "long_doc_rag/answer.jinja"


async def test_an_empty_model_reply_is_not_an_answer(files):
    with pytest.raises(ToolError) as caught:
        await LongDocRAG(synthesis=True)(Speaking(files), path="documents", query="gout")
    assert caught.value.label == "empty"


def test_a_bad_configuration_is_reported():
    with pytest.raises(ConfigError, match="overlap_words must be below window_words, found 50 and 50"):
        LongDocRAG(window_words=50, overlap_words=50)
    with pytest.raises(ConfigError, match="no prompt set"):
        LongDocRAG(synthesis=True, prompts="none_such")


def test_it_is_a_tool_that_needs_documents():
    tool = LongDocRAG()
    assert isinstance(tool, Tool) and tool.spec.name == "LongDocRAG" and tool.effect == "pure"
    assert tool.spec.facts == {"dimension": "data", "needs": "upload_files"}
