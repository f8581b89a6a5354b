"""The journal's share is written in the order of its calls and read entry by entry."""

import orjson
import pytest

from components.core.errors import ConfigError
from runner.bundle.entries import restore, written
from runner.storage.journal import Journal


def call(sample, n):
    return orjson.dumps({"at": [sample, 0, "main", n], "reply": {"content": f"{sample}{n}"}})


SHARE = {bytes([n]) * 32: call(*at) for n, at in enumerate([("b", 0), ("a", 1), ("a", 0)])}
SHARE[bytes([9]) * 32] = orjson.dumps({"tool": "search", "text": ""})


def test_calls_come_in_their_order_and_tools_last(tmp_path):
    lines = written(SHARE).splitlines()
    told = [orjson.loads(line.split(b" ", 2)[2]) for line in lines]
    assert [one.get("at", [one.get("tool")])[0] for one in told] == ["a", "a", "b", "search"]
    (tmp_path / "j").write_bytes(written(SHARE))
    assert restore(tmp_path / "j", tmp_path / "journal") == 4
    assert all(Journal(tmp_path / "journal", read_only=True).get(key) == payload for key, payload in SHARE.items())


@pytest.mark.parametrize("at", [3, 70, 90, -1])
def test_a_line_in_which_a_byte_was_changed_is_no_entry(tmp_path, at):
    lines = written(SHARE).splitlines(keepends=True)
    hurt = bytearray(lines[1])
    hurt[at] ^= 1
    (tmp_path / "j").write_bytes(lines[0] + bytes(hurt) + b"".join(lines[2:]))
    assert restore(tmp_path / "j", tmp_path / "journal") == (3 if at >= 0 else 2)


def test_an_entry_of_several_lines_is_refused():
    with pytest.raises(ConfigError, match="is no line of JSON"):
        written({bytes(32): b"{\n}"})
