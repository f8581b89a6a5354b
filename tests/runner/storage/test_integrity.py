"""Files of a run that were cut, lost or changed are named."""

import json

import orjson
import pytest

from components.core.errors import ConfigError
from runner.storage import integrity, manifest
from runner.storage.integrity import (
    Damaged,
    changed_files,
    digests_of,
    refuse_changed,
    refuse_changed_records,
    verify,
    write_metrics,
)
from runner.storage.records import RecordWriter
from runner.storage.texts import TextReader
from tests.table import each_row

BEGUN = {
    "name": "x", "choices": {}, "dataset": {"name": "x", "split": "test", "samples": 1, "fingerprint": "f"}, "status": "running",
    "varied": {}, "seed": 0, "epochs": 1, "model_kind": "live", "command": "", "notes": [],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A run folder with a record and its text."""
    writer = RecordWriter(tmp_path)
    name = writer.packer._texts.add("a long text\n" * 100)
    writer.append({"sample_id": "a", "epoch": 1, "stop": "answered", "scores": {}, "steps": [{"text": {"ref": name}}]})
    writer.close()
    (tmp_path / "config.yaml").write_text("name: x\n")
    (tmp_path / "metrics.json").write_text('{"a": 1}')
    config = [manifest.digest(b"name: x\n")]
    manifest.write(tmp_path, BEGUN | {"id": "x", "config": config, "files": digests_of(tmp_path)})
    return tmp_path


def test_untouched_folder_is_verified(folder):
    assert changed_files(folder) == []
    assert verify(folder).endswith("config, records, metrics and texts are as its run wrote them")


def _cut(path):
    path.write_bytes(path.read_bytes()[:-3])


def _alter(path):
    path.write_bytes(path.read_bytes().replace(b"name: x", b"name: y").replace(b'"a"', b'"b"'))


_RESUME = ", or delete records.jsonl and resume the run: the journal answers its calls"
CHANGES = [
    ("texts-0000.jsonl.gz", _cut, "bytes; its run wrote", _RESUME),
    ("texts-0000.jsonl.gz", lambda path: path.unlink(), "is missing; its run wrote", _RESUME),
    ("records.jsonl", _cut, "bytes; its run wrote", _RESUME),
    ("records.jsonl", _alter, "was changed: it has another SHA-256", _RESUME),
    ("metrics.json", _cut, "bytes; its run wrote", ", or compute it again: python -m runner.report table "),
    ("metrics.json", _alter, "was changed: it has another SHA-256", ", or compute it again: "),
    ("config.yaml", _alter, "was changed after its run wrote it", ""),
]


@each_row("name, change, message, advice", CHANGES)
def test_changed_file_is_named(folder, name, change, message, advice):
    whole = (folder / name).read_bytes()
    change(folder / name)
    with pytest.raises(ConfigError, match=f"{name} .*{message}"):
        verify(folder)
    with pytest.raises(Damaged, match=f"{name} .*{message}.*; restore it{advice}.*") as caught:
        refuse_changed(folder)
    assert "\n" not in str(caught.value) and (advice or str(caught.value).endswith("restore it"))
    (folder / name).write_bytes(whole)
    refuse_changed(folder)


def test_changed_records_or_texts_are_not_resumed(folder):
    for name in ("records.jsonl", "texts-0000.jsonl.gz"):
        whole = (folder / name).read_bytes()
        for change in (_cut, _alter, lambda path: path.write_bytes(b"")):
            change(folder / name)
            if (folder / name).read_bytes() != whole:
                with pytest.raises(Damaged, match=f"{name} .*; restore it, or delete records.jsonl and resume"):
                    refuse_changed_records(folder)
        (folder / name).write_bytes(whole)
        refuse_changed_records(folder)
    (folder / "metrics.json").write_text("")
    refuse_changed_records(folder)
    _cut(folder / "texts-0000.jsonl.gz")
    (folder / "records.jsonl").unlink()
    refuse_changed_records(folder)


def test_several_changed_files_are_counted_in_one_line(folder):
    for name in ("records.jsonl", "metrics.json"):
        _alter(folder / name)
    with pytest.raises(Damaged, match=rf"records.jsonl was .* \(and 1 more: python -m runner.report verify {folder}\)"):
        refuse_changed(folder)


def test_metrics_that_are_computed_again_are_as_they_should_be(folder):
    write_metrics(folder, '{"b": 2}')
    assert verify(folder) and (folder / "metrics.json").read_text() == '{"b": 2}'
    (folder / manifest.FILE).write_bytes(b'{"id": "x"}')
    write_metrics(folder, "{}")
    assert manifest.read(folder) == {"id": "x"}, "a run without digests gets none of a part"


def test_metrics_of_a_run_in_progress_are_written_by_its_own_process_only(folder):
    before = (folder / manifest.FILE).read_bytes(), (folder / "metrics.json").read_bytes()
    writer = RecordWriter(folder)
    write_metrics(folder, '{"b": 2}')
    assert before == ((folder / manifest.FILE).read_bytes(), (folder / "metrics.json").read_bytes())
    writer.close()


@each_row("place", ["of metrics.json and", "config.yaml like"])
def test_advice_depends_on_the_file_and_not_on_names_of_folders(tmp_path, place):
    folder = tmp_path / place
    manifest.write(folder, {"files": {"records.jsonl": {"bytes": 1, "sha256": "x"}}})
    with pytest.raises(Damaged, match=f"records.jsonl is missing.*restore it{_RESUME}"):
        refuse_changed(folder)


def test_sizes_alone_show_a_cut_file(folder):
    _cut(folder / "texts-0000.jsonl.gz")
    (change,) = changed_files(folder)
    assert "texts-0000.jsonl.gz has" in change.line


def test_folder_of_a_run_that_has_not_finished_is_checked_by_its_texts(folder):
    notes = json.loads((folder / manifest.FILE).read_text())
    del notes["files"]
    (folder / manifest.FILE).write_bytes(orjson.dumps(notes))
    assert verify(folder) == (
        f"{folder}: the config is as its run wrote it and no text of its records is missing; nothing else can be compared, "
        "because the run has not finished"
    )
    (folder / "texts-0000.jsonl.gz").unlink()
    with pytest.raises(ConfigError, match=r"1 texts of its records are missing from texts-"):
        verify(folder)


@each_row("notes, message", [
    ({}, "is not the manifest of a run"),
    (BEGUN | {"counts": dict.fromkeys(("finished", "wanted", "errored"), 1)}, "its manifest has no digests"),
])  # fmt: skip
def test_manifest_that_was_replaced_is_not_verified(folder, notes, message):
    manifest.write(folder, notes)
    with pytest.raises(ConfigError, match=message):
        verify(folder)


def test_texts_added_after_their_file_is_finished_are_read(tmp_path):
    writer, text = RecordWriter(tmp_path), "a long text\n" * 100
    for added in (text, text + "more\n" * 100):
        writer.packer._texts.add(added)
        writer.finish_texts()
    name = writer.packer._texts.add(text)
    writer.close()
    assert TextReader(tmp_path)[name] == text
    assert len(list(tmp_path.glob("texts-*"))) == 3


def test_metrics_of_damaged_records_are_not_written(tmp_path):
    records, metrics = tmp_path / "records.jsonl", tmp_path / "metrics.json"
    records.write_text("1\n2\n")
    metrics.write_text("of two")
    manifest.write(tmp_path, {"files": integrity.digests_of(tmp_path)})
    records.write_text("1\n")
    integrity.write_metrics(tmp_path, "of one")
    assert metrics.read_text() == "of two"
    records.write_text("1\n2\n")
    integrity.write_metrics(tmp_path, "of two, by a later version")
    assert metrics.read_text() == "of two, by a later version" and not integrity.changed_files(tmp_path)


def test_only_files_of_the_folder_are_opened(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "other").write_text("")
    empty = {"bytes": 0, "sha256": "x"}
    manifest.write(tmp_path / "run", {"files": {"/dev/zero": empty, "../other": empty}})
    assert all("is missing" in change.line for change in integrity.changed_files(tmp_path / "run"))
