"""A full disk: the file and a remedy are named, and partial writes are never read as complete."""

import logging
import resource
from contextlib import contextmanager

import pytest

from runner.episode.progress import log_to
from runner.job.execute import Execution, Outcome
from runner.storage.disk import Unwritable, replace
from runner.storage.journal import Journal
from runner.storage.records import RecordWriter, read
from tests.parts import Rows, Speaker, door, parts


@contextmanager
def full(size):
    """Files larger than ``size`` bytes cannot be written, which simulates a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def play(folder, journal=None):
    writer, model = RecordWriter(folder), Speaker(lambda request: "answer", max_connections=1)
    try:
        await Execution(parts(), door(model, journal), writer, Outcome()).run(Rows(20).load("test"), 1)
    finally:
        writer.close()


async def test_unwritable_records_file_is_named_and_holds_complete_lines(tmp_path):
    why = r"records\.jsonl cannot be written: No space left on device; free space on its disk$"
    with full(1500), pytest.raises(Unwritable, match=why):
        await play(tmp_path)
    assert 0 < len(list(read(tmp_path))) < 20
    await play(tmp_path)
    assert len(list(read(tmp_path))) == 20


def test_a_log_that_cannot_be_written_hides_no_other_file(tmp_path):
    with full(5):
        log = log_to(tmp_path / "run.log")
        logging.getLogger("runner").info("more than five bytes")
        log.close()
    assert (tmp_path / "run.log").stat().st_size == 5


async def test_unwritable_journal_ends_the_run_without_sample_errors(tmp_path):
    with (
        full(150),
        Journal(tmp_path / "journal") as journal,
        pytest.raises(Unwritable, match=r"journal cannot be written: .*; free space on its disk"),
    ):
        await play(tmp_path / "run", journal)
    assert list(read(tmp_path / "run")) == []
    with Journal(tmp_path / "journal") as journal:
        await play(tmp_path / "run", journal)
    assert len(list(read(tmp_path / "run"))) == 20


async def test_unwritable_texts_file_is_named(tmp_path):
    writer = RecordWriter(tmp_path)
    writer.packer._texts.add("".join(map(chr, range(300, 900))))
    with full(100), pytest.raises(Unwritable, match=r"texts-0000\.jsonl\.gz cannot be written"):
        writer.append({"sample_id": "q1", "epoch": 0, "stop": "answered"})
    writer.close()
    assert list(read(tmp_path)) == []


@pytest.mark.parametrize("name", ["metrics.json", "config.yaml"])
def test_command_names_the_file_and_how_to_resume(home, name):
    (home.path / "here").mkdir()
    (home.path / "here" / f"{name}.tmp").symlink_to("/dev/full")
    done = home.run("limit=1", "hydra.run.dir=here")
    message, then = done.err.splitlines()
    assert done.code == 1
    assert (
        message.startswith("error: ")
        and f"here/{name} cannot be written: No space left on device; free space" in message
    )
    assert message.endswith("finished work is kept; continue with:") and then.endswith("run.resume=here")
    assert not (home.path / "here" / f"{name}.tmp").is_symlink(), "no part of it is left"
    assert home.run("limit=1", "run.resume=here").code == 0


async def test_removing_the_records_file_during_a_run_ends_it(tmp_path):
    writer = RecordWriter(tmp_path)
    (tmp_path / "records.jsonl").unlink()
    with pytest.raises(Unwritable, match=r"records\.jsonl cannot be written: it was removed"):
        writer.append({"sample_id": "a"})
    writer.close()


def test_file_that_could_not_be_replaced_is_as_it_was_and_leaves_no_part(tmp_path):
    path = tmp_path / "metrics.json"
    replace(path, "whole", 0o600)
    assert path.stat().st_mode & 0o777 == 0o600
    with full(100), pytest.raises(Unwritable, match=r"metrics\.json cannot be written: File too large"):
        replace(path, "x" * 1000)
    assert path.read_text() == "whole" and list(tmp_path.iterdir()) == [path]
