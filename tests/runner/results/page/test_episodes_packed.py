"""Packed page data can be read back, and contain no markup."""

import base64
import gzip
import json
import re

from runner.results.sections.episode_data import Blocks, Texts, pack
from tests.table import each_row

HOSTILE = '</script><!-- <script> \u2028 \x1b[31m \u202e"\\'


def unpacked(block):
    """The decoded value of a block of a page."""
    return json.loads(gzip.decompress(base64.b64decode(block)))


def test_packed_value_is_alphanumeric_and_round_trips():
    value = {"text": HOSTILE, "list": [1, None, 2.5]}
    assert unpacked(pack(value)) == value
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", pack(value))
    assert pack(value) == pack(value)


def test_list_is_split_into_blocks_with_start_indices():
    blocks, values = Blocks(), [{"n": n, "text": str(n) * 200_000} for n in range(9)]
    assert [blocks.add(value) for value in values] == list(range(9))
    blocks.close()
    assert blocks.starts == [0, 3, 6]
    assert [one for block in blocks.written for one in unpacked(block)] == values


@each_row(
    "text",
    ["", "short", "x" * 119, "x" * 120, "a line\n" * 40, f"{'long ' * 100}\n{HOSTILE * 9}\n\nend\n", "y" * 1_000_000],
)
def test_text_is_rebuilt_from_its_paragraphs(text):
    texts = Texts()
    found = texts.add(text)
    texts.blocks.close()
    stored = [one for block in texts.blocks.written for one in unpacked(block)]
    assert (found if isinstance(found, str) else "\n".join(stored[n] for n in found)) == text


def test_a_paragraph_is_stored_once():
    texts = Texts()
    assert texts.add("same " * 100) == texts.add("same " * 100) == [0]
    assert texts.add("other " * 100 + "\n" + "same " * 100) == [1, 0]
    assert texts.add("z" * 5_000) == texts.add("z" * 5_000) == [2]
    assert texts.blocks.count == 3


@each_row("text", ["a\ud800b", "\udfff" + "x" * 200, "\ud800" + "x" * 5_000])
def test_a_lone_surrogate_is_a_question_mark(text):
    texts = Texts()
    found = texts.add(text)
    texts.blocks.close()
    stored = found if isinstance(found, str) else unpacked(texts.blocks.written[0])[0]
    assert stored == text.replace("\ud800", "?").replace("\udfff", "?")
