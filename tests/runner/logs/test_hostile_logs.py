"""Logs are untrusted: what is too large, too deep or of another form is refused in one line."""

import json
import zipfile

import pyarrow as pa
import pytest

from components.core.errors import ConfigError
from runner.logs import documents
from runner.logs.__main__ import main
from runner.logs.imported import number, plain, score_name
from tests.table import each_row

HEAD = {"eval": {"task": "t", "model": "m"}, "status": "success"}
SAMPLE = {"id": 1, "epoch": 1, "messages": [], "scores": {}}


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            file.writestr(name, value if isinstance(value, bytes) else json.dumps(value))
    return path


def refused(tmp_path, capsys, path):
    """The only line of the refusal; nothing is left of the import."""
    assert main([str(tmp_path / "made/new"), str(path)]) == 2
    assert not list((tmp_path / "made").iterdir())
    (line,) = capsys.readouterr().err.splitlines()
    return line


@each_row("sample, line", [
    ([], "is not in the format of its tool: AttributeError"),
    (SAMPLE | {"scores": {"a": 3}}, "is not in the format of its tool: TypeError"),
    (SAMPLE | {"epoch": "x"}, "is not in the format of its tool: ValueError"),
    (SAMPLE | {"scores": {"a": {}}}, "log.eval is not in the format of its tool: there is no 'value'"),
    (SAMPLE | {"messages": [{"role": "root", "content": ""}]}, "a message has the role 'root'"),
    (SAMPLE | {"total_time": 10**400}, "is not in the format of its tool: OverflowError"),
    (SAMPLE | {"id": "x" * 2000}, "epoch 1, has too long an id"),
    (b'{"id": 1, "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not readable JSON"),
    (b'{"id": ', "is not readable JSON"),
    (SAMPLE | {"epoch": 0}, "an invalid epoch or time"),
    (SAMPLE | {"epoch": 10**9}, "an invalid epoch or time"),
    (SAMPLE | {"total_time": float("inf")}, "an invalid epoch or time"),
])  # fmt: skip
def test_a_sample_of_another_form_is_refused(tmp_path, capsys, sample, line):
    path = archive(tmp_path / "log.eval", {"header.json": HEAD, "samples/1_epoch_1.json": sample})
    assert line in refused(tmp_path, capsys, path)


def test_a_version_that_is_not_known_is_refused(tmp_path, capsys):
    path = archive(tmp_path / "log.eval", {"header.json": HEAD | {"version": 3}, "samples/1_epoch_1.json": SAMPLE})
    assert "has version 3 of inspect_ai's schema; 1 and 2 are read" in refused(tmp_path, capsys, path)


@pytest.mark.parametrize("time, kind", [("yesterday", "ValueError"), ([1], "TypeError")])
def test_a_time_of_a_run_that_is_none_is_refused(tmp_path, capsys, time, kind):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEAD | {"samples": [SAMPLE], "stats": {"started_at": time}}))
    assert f"is not in the format of its tool: {kind}" in refused(tmp_path, capsys, path)


@pytest.mark.parametrize("name", [{"a": 1}, 10**59])
def test_the_name_of_a_call_is_a_text(tmp_path, name):
    messages = [{"role": role, "content": "x", "tool_call_id": name} for role in ("tool", "assistant", "tool")]
    path = tmp_path / "log.json"
    path.write_text(
        json.dumps(HEAD | {"samples": [SAMPLE | {"messages": messages, "total_time": 1, "x": float("nan")}]})
    )
    assert main([str(tmp_path / "new"), str(path)]) == 0


def test_names_of_members_are_no_paths(tmp_path):
    sample = SAMPLE | {"id": "../../id", "scores": {"a": {"value": "C"}}}
    path = archive(tmp_path / "log.eval", {"header.json": HEAD | {"eval": {"task": "../t", "model": "/m"}},
                                           "samples/../../../x.json": sample})  # fmt: skip
    assert main([str(tmp_path / "made/new"), str(path)]) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"log.eval", "made"}
    assert [one.name for one in (tmp_path / "made/new").iterdir()] == ["01-.._t-_m"]


def test_a_sample_that_is_there_twice_is_refused(tmp_path, capsys):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEAD | {"samples": [SAMPLE, SAMPLE]}))
    assert "sample '1', epoch 1, is duplicated" in refused(tmp_path, capsys, path)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    path = archive(tmp_path / "log.eval", {"header.json": HEAD, "samples/1_epoch_1.json": "0" * 100_000})
    with pytest.raises(ConfigError, match=r"is refused: 2 members of 100,"):
        documents.Archive(path, free_bytes=1_000, max_ratio=10)


def test_members_and_lines_have_a_largest_size(tmp_path):
    read = documents.Archive(archive(tmp_path / "a.eval", {"header.json": "x" * 200}), max_bytes=100).read
    with pytest.raises(ConfigError, match=r"'header\.json' is refused: it has 202 bytes, at most 100 are read"):
        read("header.json")
    (tmp_path / "a.jsonl").write_text("[" * 300)
    with pytest.raises(ConfigError, match=r"a\.jsonl:1 is refused: a line has at most 100 bytes"):
        list(documents.lines(tmp_path / "a.jsonl", max_bytes=100))
    with pytest.raises(ConfigError, match=r"a\.jsonl is refused: it has 300 bytes, at most 100 are read"):
        documents.document(tmp_path / "a.jsonl", max_bytes=100)
    with pytest.raises(ConfigError, match=r"a\.json is refused: it has 300 values, at most 299 are read"):
        documents.parse(b"[" * 100 + b"{" * 100 + b"," * 100, "a.json", max_values=299)


def test_a_zstd_member_that_states_another_size_is_not_unpacked_further(tmp_path):
    packed = pa.compress(b"0" * 1_000_000, codec="zstd", asbytes=True)
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", packed)
    raw = path.read_bytes()
    entry = raw.rindex(b"PK\x01\x02")
    path.write_bytes(raw[: entry + 10] + (93).to_bytes(2, "little") + raw[entry + 12 :])
    with pytest.raises(ConfigError, match=f"its size is not the {len(packed)} bytes that it states"):
        documents.Archive(path).read("header.json")


def test_a_file_that_is_no_archive_is_refused(tmp_path, capsys):
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04 and nothing more")
    assert "is not a zip archive" in refused(tmp_path, capsys, path)


def test_nan_and_lone_surrogates_of_json_are_read():
    found = documents.parse(b'{"a": NaN, "b": "x\\ud800"}', "x")
    assert number(found["a"]) is None and found["b"] == "x?"


def test_values_are_numbers_as_inspect_takes_them_and_others_are_unscored():
    values = ["C", "i", "P", "N", "yes", True, "0.5", 3, "inf", float("nan"), "maybe", None, [1], 10**400]
    assert [*map(number, values)] == [1, 0, 0.5, 0, 1, 1, 0.5, 3, None, None, None, None, None, None]


def test_names_of_scores_are_in_one_group_and_hold_nothing_that_acts():
    assert (
        score_name("errors/rate\x1b[1m<b>") == "score/errors_rate_[1m_b_" and plain("<b>\x1b[1m\nx") == "_b_\\x1b[1m x"
    )
    assert [*map(score_name, ("score/strict", "fhir/success", "/a", "a/b/c"))] == [
        "score/strict", "fhir/success", "score/_a", "a/b_c"
    ]  # fmt: skip
