"""Frames that may come from a hostile writer."""

import json
import struct

import pytest

from components.sandbox.api import CellError, FrameError, Ran, Reader, cap, pack, pack_ran, plain, read_ran
from tests.table import each_row

GOOD = {"status": "ok", "answer": "1", "output": "", "error": None, "seconds": 0.1, "token": "t"}
ERROR = {"type": "E", "kind": "", "message": "m", "line_no": 1, "line": "x", "traceback": "t"}


def framed(text):
    body = text if isinstance(text, bytes) else text.encode()
    return struct.pack(">I", len(body)) + body


def read(data, limit=10_000):
    reader = Reader(limit)
    reader.feed(data)
    return reader.take()


def test_a_frame_is_restored_however_it_is_split():
    reader, data = Reader(1000), pack({"cell": "é\n" * 50}) + pack({"cell": "b"})
    found = []
    for position in range(0, len(data), 7):
        reader.feed(data[position : position + 7])
        if frame := reader.take():
            found.append(frame["cell"])
    assert [*found, *filter(None, [reader.take()])] == ["é\n" * 50, "b"] and not reader.rest


@each_row("body", ["", "{", "[]", "1", '{"a":NaN}', '{"a":Infinity}', '{"a":1,"a":2}', b"\xff\xfe", "[" * 5000, '{"a":' * 5000, '{"a":' + "9" * 5000 + "}"])  # fmt: skip
def test_a_frame_that_is_not_a_json_object_is_refused(body):
    with pytest.raises(FrameError):
        read(framed(body), 100_000)


def test_a_frame_with_a_wrong_or_excessive_length_is_refused():
    with pytest.raises(FrameError, match="frame of"):
        read(struct.pack(">I", 2**32 - 1))
    with pytest.raises(FrameError, match="more bytes"):
        read(framed("x" * 20_000))


@each_row("change", [
        {"status": "fine"}, {"status": None}, {"answer": 1}, {"answer": None}, {"answer": "x" * 101}, {"answer": "\ud800"},
        {"output": "x"}, {"error": ERROR}, {"error": "E"}, {"seconds": -1}, {"seconds": "1"}, {"seconds": True},
        {"more": 1}, {"token": "other"}, {"token": None}, {"status": "error"}, {"status": "error", "error": {**ERROR, "line_no": "1"}},
        {"status": "error", "error": {**ERROR, "line_no": True}}, {"status": "error", "error": {**ERROR, "more": 1}},
        {"status": "error", "error": {**ERROR, "message": "x" * 10_000}}, {"seconds": 1e300},
        {"status": "error", "error": {**ERROR, "type": "\udfff"}},
    ])  # fmt: skip
def test_a_frame_that_is_not_a_result_is_refused(change):
    with pytest.raises(FrameError):
        read_ran({**GOOD, **change}, "t", 100)


def test_a_missing_field_is_refused():
    with pytest.raises(FrameError):
        read_ran({key: GOOD[key] for key in GOOD if key != "output"}, "t", 100)


def test_the_longest_results_fit_into_a_frame():
    ran = Ran("ok", "\x01" * 100, "", None, 1.0)
    assert read_ran(read(pack_ran(ran, "t"), cap(100)), "t", 100) == ran
    worst = CellError(*["\x01" * 8000] * 3, 1, "\x01" * 8000, "\x01" * 8000)
    assert read(pack_ran(Ran("error", error=worst), "t"), cap(100))


def test_text_that_cannot_be_encoded_is_escaped():
    assert plain("a\ud800") == "a\\ud800"
    assert json.loads(pack({"a": "\ud800"})[4:]) == {"a": "?"}
