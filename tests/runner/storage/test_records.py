"""Run folders: whole lines, texts once, resume, and trajectories that come back equal."""

import dataclasses
import errno
import fcntl
import gzip
import json
import os
import random
import threading

import orjson
import pytest

from components.core.errors import ConfigError
from components.core.messages import Image, Message, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Refusal, Score, Step, Trajectory
from runner.storage import disk, records
from runner.storage.journal import Journal
from runner.storage.records import FILE, RecordWriter, read, record_of
from runner.storage.stored import Packer, Unpacker, _line_of, _rounded
from runner.storage.texts import TextReader, TextWriter, discard_known, paragraphs
from tests.parts import Rows
from tests.table import each_row

SAMPLE = Rows().load("test")[0]
LONG = "a long line about a finding that is worth being stored once and once only, " * 3


def trajectory(answer="answer 0"):
    card = ToolSpec("count", LONG, facts={"category": "x", "supported": None})
    reply = Message("assistant", LONG, (ToolCall("1", "count", '{"n": 1}'),), reasoning="hm")
    asked = [
        Message("system", f"{LONG}\nshort\n\n{LONG}", source="set/system.jinja"),
        Message("user", (Image("data:image/png;base64," + "A" * 300), "look", LONG)),
        Message("tool", "saw", tool_call_id="1"),
    ]
    seen = Observed(ToolCall("1", "count", '{"n": 1}'), Observation("1", {"n": 1}), "odd", 0.5, True)
    action = Action(reply, (ToolCall("1", "count", "{}"),), None, Refusal({"a": "b"}), True, "why", "e", "t")
    step = Step("act", "main", "main", 0, 0, asked, reply, Usage(1, 2, 0.5, 3, 4), "length", 1.5, 0.25,
                action=action, committed=False, verdict="bad " + LONG, observed=[seen], tried=[seen])  # fmt: skip
    return Trajectory([step], (card,), {"condition": "c"}, "answered", answer, Refusal({"x": "y"}), None, None)


def append(writer, sample=SAMPLE, epoch=0, stop="answered"):
    episode = trajectory()
    episode.stop = stop
    scores = [Score("score/right", 1.0, "why", 1.0), Score("score/none", None)]
    writer.append(record_of(sample, epoch, episode, scores, 0.1, writer.packer))


def test_trajectory_round_trips(tmp_path):
    writer = RecordWriter(tmp_path)
    append(writer)
    writer.close()
    (record,) = read(tmp_path)
    back = Unpacker(TextReader(tmp_path)).trajectory(record)
    assert dataclasses.asdict(back) == dataclasses.asdict(trajectory())
    assert record["scores"] == {"score/right": 1.0, "score/none": None} and record["ceilings"] == {"score/right": 1.0}
    assert record["usage"]["purposes"]["act"] == {"calls": 1, "input_tokens": 1, "output_tokens": 2, "cost_usd": 0.5}


def test_values_of_secret_variables_are_stored_hidden(tmp_path, monkeypatch):
    keys = {"JUDGE_API_KEY": "plain-key-0123456789", "ODD": 'a"quoted"-key-0123'}
    for name, value in (keys | {"OTHER_KEY": "not-needed"}).items():
        monkeypatch.setenv(name, value)
    said = f"{' and '.join(keys.values())}, not-needed"
    call = ToolCall("1", "count", json.dumps({"at": keys["JUDGE_API_KEY"]}))
    reply = Message("assistant", f"{LONG} {said}", (call,), reasoning=said)
    step = Step("act", "main", "main", 0, 0, [Message("user", "?")], reply, Usage(1, 2), "stop", 1.5, 0.25)
    writer, episode = RecordWriter(tmp_path, ["ODD", "UNSET"]), Trajectory([step], (), {}, "answered", said)
    writer.append(record_of(SAMPLE, 0, episode, [Score("score/right", 1.0, said)], 0.1, writer.packer))
    writer.close()
    (record,) = read(tmp_path)
    back = Unpacker(TextReader(tmp_path)).trajectory(record)
    hidden = "[hidden] and [hidden], not-needed"
    assert (back.answer, record["explanations"]["score/right"], episode.answer) == (hidden, hidden, said)
    message = back.steps[0].reply
    assert (message.text, message.reasoning) == (f"{LONG} {hidden}", hidden)
    assert message.tool_calls[0].parsed == {"at": "[hidden]"}


def test_a_secret_that_is_not_utf_8_is_hidden_as_records_hold_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ODD_TOKEN", os.fsdecode(b"\xffabcdefghijklmnopqrst"))
    writer = RecordWriter(tmp_path)
    writer.append({"sample_id": "a", "epoch": 0, "stop": "answered", "answer": "?abcdefghijklmnopqrst", "steps": []})
    writer.close()
    assert [record["answer"] for record in read(tmp_path)] == ["[hidden]"]


def test_repeated_offers_are_neither_encoded_nor_hashed_again(tmp_path):
    writer = TextWriter(tmp_path)
    (card,) = (offer := trajectory()).offered
    names = {Packer(writer).offered(offer) for _ in range(3)}
    assert len(names) == 1 and writer._digest.cache_info()[:2] == (4, 2)  # hits and misses: two lines, three times
    assert _line_of(dataclasses.replace(card, name="sum")) is _line_of(card)
    assert _line_of(dataclasses.replace(card, facts={})) != _line_of(card)


def test_repeated_texts_are_not_split_again_and_few_are_remembered(tmp_path):
    writer = TextWriter(tmp_path)
    assert len({writer.add(f"{LONG}\n{LONG}") for _ in range(3)}) == 1
    assert writer._digest.cache_info()[:2] == (1, 1)  # two paragraphs, once
    for n in range(2_000):
        writer.add(f"{n} {LONG}")
    writer.add("x" * 100_000)
    assert len(writer._recent) <= 256 and max(map(len, writer._recent)) < 1_000


@each_row("seconds", [0.0, 1.49e-5, 0.00005001, 0.12344, 2.5, 119.99999, 1764142713.12346])
def test_times_are_rounded_like_round_does(seconds):
    assert _rounded(seconds) == round(seconds, 4)


def test_repeated_texts_are_stored_once(tmp_path):
    writer = RecordWriter(tmp_path)
    append(writer)
    size = sum(p.stat().st_size for p in tmp_path.glob("texts-*"))
    for epoch in range(1, 20):
        append(writer, epoch=epoch)
    writer.close()
    assert sum(p.stat().st_size for p in tmp_path.glob("texts-*")) < size + 100


@each_row("text", ["", "\n", "a\n\nb", LONG, f"{LONG}\n{LONG}", f"\n{LONG}\n", "ü\u2028x\r\ny"])
def test_paragraphs_join_to_the_original_text(text):
    assert "\n".join(paragraphs(text)) == text


def test_texts_before_and_after_a_failed_write_can_be_read(tmp_path, monkeypatch):
    def fail(*_):
        raise disk.Unwritable(tmp_path, OSError(errno.ENOSPC, "No space left on device"))

    writer, texts = TextWriter(tmp_path), [f"{n} {LONG}" for n in range(3)]
    names = [writer.add(texts[0])]
    writer.flush()
    writer.add(texts[1])
    with monkeypatch.context() as full:
        full.setattr(disk, "append", fail)
        with pytest.raises(disk.Unwritable):
            writer.flush()
    names += [writer.add(text) for text in texts[1:]]
    writer.close()
    os.mkfifo(tmp_path / "texts-0009.jsonl.gz")  # nothing waits for who would write to it
    assert [TextReader(tmp_path)[name] for name in names] == texts


def test_texts_survive_a_truncated_file(tmp_path):
    writer = TextWriter(tmp_path)
    names = []
    for n in range(40):
        names.append(writer.add(f"{n} {LONG}"))
        writer.flush()
    (path,) = tmp_path.glob("texts-*")
    whole = path.read_bytes()
    for cut in random.Random(0).sample(range(20, len(whole)), 30):
        path.write_bytes(whole[:cut])
        reader = TextReader(tmp_path)
        for n, name in enumerate(names):
            try:
                assert reader[name] == f"{n} {LONG}"
            except ConfigError as error:
                assert "missing or cut off" in str(error)
                break


def test_resume_cuts_a_torn_line_and_runs_errored_samples_again(tmp_path):
    samples = Rows().load("test")
    writer = RecordWriter(tmp_path)
    append(writer, samples[0])
    append(writer, samples[1], stop="error")
    append(writer, samples[2])
    writer.close()
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'{"sample_id": "q3", "sto')
    again = RecordWriter(tmp_path)
    assert again.finished == {("q0", 0), ("q2", 0)}
    append(again, samples[1])
    again.close()
    assert [r["sample_id"] for r in read(tmp_path)] == ["q0", "q2", "q1"]
    assert all(Unpacker(TextReader(tmp_path)).trajectory(r).steps for r in read(tmp_path))


def test_a_lost_texts_file_is_noticed_on_resume(tmp_path):
    writer = RecordWriter(tmp_path)
    append(writer)
    writer.close()
    next(tmp_path.glob("texts-*")).unlink()
    with pytest.raises(ConfigError, match=r"5 texts of its records are lost with a texts-\*\.jsonl\.gz: restore it"):
        RecordWriter(tmp_path)
    assert len([*read(tmp_path)]) == 1 and not [*tmp_path.glob("*.tmp")]


def test_a_lock_that_is_held_for_a_moment_is_waited_for(tmp_path):
    lock = disk.lock_folder(tmp_path)
    threading.Timer(0.3, os.close, [lock]).start()
    RecordWriter(tmp_path).close()


def test_folder_in_use_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_LOCK_SECONDS", 0.1)
    writer = RecordWriter(tmp_path)
    with pytest.raises(ConfigError, match="in use by another process"):
        RecordWriter(tmp_path)
    writer.close()
    RecordWriter(tmp_path).close()


def test_a_disk_without_locks_is_named(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(disk.Unwritable, match=f"{tmp_path} cannot be written: No locks available"):
        RecordWriter(tmp_path)
    with pytest.raises(disk.Unwritable, match="journal cannot be written: No locks available"):
        Journal(tmp_path / "journal").put(bytes(32), b"{}")


def test_records_are_read_without_their_steps_wherever_these_are(tmp_path):
    steps = {"steps": [{"purpose": "act"}]}
    whole = {"sample_id": "a", "epoch": 0, "stop": "answered", "scores": {"x": 1.0}, "facts": {"b": 1}}
    lines = [
        {**whole, **steps}, {**whole, "steps": []}, {**whole, **steps, "ceilings": {"x": 1.0}},
        {**whole, "facts": {"b": 1, **steps}, **steps}, {**whole, "answer": ',"steps":[', **steps}, whole,
    ]  # fmt: skip
    lines = [{**line, "epoch": n} for n, line in enumerate(lines)]
    (tmp_path / FILE).write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    assert list(read(tmp_path)) == lines
    for found, line in zip(read(tmp_path, steps=False), lines, strict=True):
        assert {"steps": line.get("steps"), **found} == {"steps": None, **line}
    assert ["steps" in found for found in read(tmp_path, steps=False)] == [False, False, True, True, False, False]


def test_a_sample_and_epoch_that_are_there_twice_are_named_with_file_and_line(tmp_path):
    lines = [{"sample_id": "a", "epoch": n, "stop": "answered"} for n in (0, 1, 0)]
    (tmp_path / FILE).write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    with pytest.raises(ConfigError, match=r"records.jsonl:3: sample 'a', epoch 0 is in line 1 already"):
        [*read(tmp_path)]


def test_only_wanted_records_are_read(tmp_path):
    lines = [b'{"sample_id":"%d","epoch":0,"stop":"error"}\n' % n for n in range(3)]
    (tmp_path / FILE).write_bytes(b"".join(lines).replace(b'{"sample_id":"1"', b"damaged"))
    assert [record["sample_id"] for record in read(tmp_path, [True, False, True])] == ["0", "2"]


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / FILE).write_bytes(orjson.dumps({"sample_id": "a", "epoch": 0, "stop": "answered"}) + b"\nnot json\n")
    with pytest.raises(ConfigError, match=r"records\.jsonl:2: damaged record"):
        list(read(tmp_path))
    (tmp_path / FILE).write_bytes(b"not json\n")
    with pytest.raises(ConfigError, match=r"records\.jsonl:1: damaged record"):
        RecordWriter(tmp_path)
    (tmp_path / FILE).write_bytes(b"[1]\n")
    with pytest.raises(ConfigError, match="it has no sample_id, epoch and stop"):
        list(read(tmp_path))


def test_record_is_written_with_a_single_write(tmp_path):
    writer = RecordWriter(tmp_path)
    append(writer)
    append(writer, epoch=1)
    lines = (tmp_path / FILE).read_bytes()
    assert lines.count(b"\n") == 2 and os.path.getsize(tmp_path / FILE) == len(lines)
    writer.close()


@pytest.mark.parametrize("line", [b"no json", b'["t", "a", [7]]', b"7", b'["p", [], "a"]\n["t","a",[0]]'])
def test_a_damaged_line_of_the_texts_is_named(tmp_path, line):
    path = tmp_path / "texts-0000.jsonl.gz"
    path.write_bytes(gzip.compress(line + b"\n"))
    with pytest.raises(ConfigError, match=r"texts-0000\.jsonl\.gz is damaged"):
        discard_known(set(), tmp_path)


@each_row(
    "part, message",
    [
        ({"scores": {"a": "1"}}, 'scores.a is "1", not a number or null'),
        ({"scores": {"a": [1]}}, "scores.a is [1]"),
        ({"scores": None}, "scores is null, not names and values"),
        ({"ceilings": {"a": "x"}}, "ceilings.a is"),
        ({"strata": {"task": {"a": 1}}}, 'strata.task is {"a": 1}, not text'),
        ({"sample_id": None}, "sample_id is null, not text"),
        ({"epoch": 0.5}, "epoch is 0.5, not a whole number"),
        ({"seconds": "x"}, 'seconds is "x", not a number'),
        ({"seconds": {"a": 1}}, "seconds is"),
        ({"usage": None}, "usage is null, not names and values"),
        ({"usage": {"calls": "x"}}, 'usage.calls is "x", not a whole number'),
        ({"usage": {"purposes": {"main": {"calls": []}}}}, "usage.purposes.main.calls is []"),
        ({"usage": {"purposes": None}}, "usage.purposes is null"),
        ({"usage": {"other": "x"}}, "its usage is not of numbers"),
    ],
)
def test_record_without_required_fields_is_reported_as_damaged(tmp_path, part, message):
    record = {"sample_id": "s", "epoch": 0, "stop": "answered", "scores": {"a": 1.0, "b": None}, "strata": {"t": "x"}}
    (tmp_path / FILE).write_bytes(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    assert [*read(tmp_path)] == [record]
    (tmp_path / FILE).write_bytes(orjson.dumps(record | part, option=orjson.OPT_APPEND_NEWLINE))
    with pytest.raises(ConfigError, match=r"records.jsonl:1: damaged record") as caught:
        [*read(tmp_path)]
    assert message in str(caught.value)
