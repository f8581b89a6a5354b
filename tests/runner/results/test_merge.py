"""Shards merged in one folder, in the order of the whole run."""

import json

import pytest
import yaml

from components.core.errors import ConfigError
from runner.results.merge import merge
from runner.storage.records import read

NOTES = {
    "name": "n", "status": "complete", "start": "2026-01-02T00:00:00+00:00", "end": "2026-01-02T00:00:09+00:00",
    "counts": {"finished": 2, "wanted": 2, "errored": 0}, "sessions": [{"sent": 2}], "notes": ["simulated"],
    "calls": {"sent": 2, "from_journal": 1, "separate": 0}, "spent": {"usd": 0.5, "input_tokens": 6, "output_tokens": 2},
    "dataset": {"fingerprint": "f", "samples": 2}, "errors": {}, "stopped": None,
}  # fmt: skip


def shard(folder, part, *records, **notes):
    folder.mkdir()
    lines = [json.dumps({"sample_id": name, "epoch": epoch, "stop": "answered"}) for name, epoch in records]
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "config.yaml").write_text(yaml.safe_dump({"run": {"shard": part}, "seed": 0}))
    (folder / "manifest.json").write_text(json.dumps(NOTES | {"shard": part} | notes))
    return folder


@pytest.fixture
def two(tmp_path):
    first = shard(tmp_path / "a", "1/2", ("q0", 0), ("q0", 1), ("q2", 0), ("q2", 1))
    return [first, shard(tmp_path / "b", "2/2", ("q3", 0), ("q1", 0), ("q3", 1), ("q1", 1))]


def order(folder):
    return [f"{record['sample_id']}/{record['epoch']}" for record in read(folder)]


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (("q0", "q1", "q2", "q3"), "q0/0 q0/1 q1/0 q1/1 q2/0 q2/1 q3/0 q3/1"),
        ((), "q0/0 q0/1 q3/0 q3/1 q2/0 q2/1 q1/0 q1/1"),  # without an order the shards alternate
    ],
)
def test_merged_records_have_the_order_of_the_whole_run(two, tmp_path, ids, found):
    assert order(merge(two, tmp_path / "whole", ids)) == found.split()


def test_merged_manifest_has_the_sums(two, tmp_path):
    late = shard(tmp_path / "c", "2/2", ("q1", 0), status="budget", stopped="calls=2", end="2026-01-03T00:00:00+00:00")
    whole = json.loads((merge([two[0], late], tmp_path / "whole") / "manifest.json").read_text())
    assert whole["counts"] == {"finished": 4, "wanted": 4, "errored": 0}
    assert whole["spent"] == {"usd": 1.0, "input_tokens": 12, "output_tokens": 4}
    assert whole["calls"] == {"sent": 4, "from_journal": 2, "separate": 0, "models": {}}
    assert (whole["status"], whole["stopped"], whole["shard"]) == ("budget", "calls=2", None)
    assert (whole["start"], whole["end"]) == (NOTES["start"], "2026-01-03T00:00:00+00:00")
    assert whole["notes"] == ["simulated"]


def test_torn_last_line_is_not_a_record(two, tmp_path):
    with (two[1] / "records.jsonl").open("a") as file:
        file.write('{"sample_id": "q5", "epo')
    assert len(order(merge(two, tmp_path / "whole"))) == 8


def test_a_sample_in_two_shards_is_refused(two, tmp_path):
    other = shard(tmp_path / "c", "2/2", ("q0", 0))
    with pytest.raises(ConfigError, match="sample 'q0' is in"):
        merge([two[0], other], tmp_path / "whole")
    assert not (tmp_path / "whole").exists()


def test_shard_of_another_run_is_refused_with_a_reason(two, tmp_path):
    mine = shard(tmp_path / "c", "1/2", ("q0", 0), choices={"agent": "direct", "model": "m"})
    other = shard(tmp_path / "d", "2/2", ("q1", 0), choices={"agent": "react", "model": "m"})
    with pytest.raises(ConfigError, match=r"/d is not a shard of .*/c: choices\.agent is react, not direct$"):
        merge([mine, other], tmp_path / "whole")


def test_killed_shard_must_be_finished_first(two, tmp_path):
    path = two[1] / "manifest.json"
    notes = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in notes.items() if key not in ("counts", "calls", "spent")}))
    with pytest.raises(ConfigError, match=r"/b has not finished: run\.resume=.*/b resumes it"):
        merge(two, tmp_path / "whole")
    assert not (tmp_path / "whole").exists()
