"""A bundle is deterministic, and a hostile zip, or a hostile journal in it, is refused in one line."""

import stat
import zipfile

import orjson
import pytest

from components.core.errors import ConfigError
from runner.bundle.archive import LIST, Archive, journal_lines, restore_journal, write
from runner.storage.journal import Journal
from tests.runner.bundle.packing import members, zipped
from tests.table import each_row

RUN = {"label": "one", "own": {}, "prompts": {}}
HEAD = {"name": "x", "runs": [RUN]}


@pytest.fixture
def bundle(tmp_path):
    write(tmp_path / "a.zip", HEAD, {"journal.jsonl": b"entry\n", "runs/one/config.yaml": b"seed: 0\n"})
    return tmp_path / "a.zip"


def test_same_content_gives_the_same_file_in_any_order(bundle, tmp_path):
    file = tmp_path / "config"
    file.write_bytes(b"seed: 0\n")
    write(tmp_path / "b.zip", HEAD, {"runs/one/config.yaml": file, "journal.jsonl": b"entry\n"})
    assert bundle.read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_packed_members_are_unpacked_unchanged(bundle, tmp_path):
    assert Archive.open(bundle).extract(tmp_path / "out") == []
    assert (tmp_path / "out/runs/one/config.yaml").read_bytes() == b"seed: 0\n"


@each_row(
    "name, message",
    [
        ("../outside", "points outside"),
        ("/etc/passwd", "points outside"),
        ("runs/../../x", "points outside"),
        ("a//b", "points outside"),
        ("folder/", "not a regular file"),
        ("C:\\x", "not valid on every system"),
        ("a\nb", "not valid on every system"),
        ("x" * 300, "not valid on every system"),
        ("JOURNAL.jsonl", "duplicated"),
        ("journal.jsonl/x", "is a file, not a folder"),
        ("more", "is not in its list"),
    ],
)
def test_member_with_an_unsafe_name_is_refused(bundle, tmp_path, name, message):
    hostile = zipped(tmp_path / "b.zip", members(bundle) | {name: b"x"})
    with pytest.raises(ConfigError, match=message) as refused:
        Archive.open(hostile)
    assert "\n" not in str(refused.value)


def special(name: str = "link", mode: int = stat.S_IFLNK | 0o777) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644, stat.S_IFCHR | 0o644])
def test_links_and_devices_are_refused(bundle, mode):
    with zipfile.ZipFile(bundle, "a") as archive:
        archive.writestr(special(mode=mode), "/etc/passwd")
    with pytest.raises(ConfigError, match="it is not a regular file"):
        Archive.open(bundle)


def test_duplicate_member_name_is_refused(bundle):
    with zipfile.ZipFile(bundle, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("journal.jsonl", "other")
    with pytest.raises(ConfigError, match="duplicated"):
        Archive.open(bundle)


def sized(path, size):
    """A bundle of a megabyte of zeros whose directory states another size."""
    write(path, HEAD, {"journal.jsonl": bytes(1 << 20)})
    raw = path.read_bytes()
    path.write_bytes(raw.replace((1 << 20).to_bytes(4, "little"), size.to_bytes(4, "little")))
    return path


def test_zip_bomb_is_refused_before_unpacking(tmp_path):
    with pytest.raises(ConfigError, match=r"it would be 4,026,53\d,\d+ bytes when unpacked"):
        Archive.open(sized(tmp_path / "a.zip", 0xF0000000))


def test_member_larger_than_the_directory_says_is_refused(tmp_path):
    archive = Archive.open(sized(tmp_path / "a.zip", 1 << 10))
    assert archive.extract(tmp_path / "out") == ["journal.jsonl"]
    assert (tmp_path / "out/journal.jsonl").stat().st_size <= 1 << 10


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18), b"PK\x03\x04" + bytes(100)])
def test_file_that_is_not_a_bundle_is_refused(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(ConfigError, match="is not a bundle"):
        Archive.open(tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"one"', b'"two"', "its digest does not match"),
        (b"{", b"[", "was changed after it was packed"),
        (b'"digest"', b'"digast"', "was changed after it was packed"),
    ],
)
def test_changed_digest_list_is_refused(bundle, tmp_path, old, new, message):
    contents = members(bundle)
    with pytest.raises(ConfigError, match=message):
        Archive.open(zipped(tmp_path / "b.zip", contents | {LIST: contents[LIST].replace(old, new, 1)}))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"name": "x", "runs": []}, "'runs': List should have at least 1 item"),
        ({"name": "x", "runs": [RUN | {"label": "../up"}]}, "a run is called"),
        ({"name": "x", "runs": [RUN | {"own": []}]}, r"runs\.0\.own\': Input should be a valid dictionary"),
        ({"name": "x", "runs": ["one"]}, "was changed after it was packed"),
        ({"name": "../x", "runs": [RUN]}, "'name': String should match pattern"),
    ],
)
def test_invalid_digest_list_is_refused(tmp_path, head, message):
    write(tmp_path / "a.zip", head, {"journal.jsonl": b""})
    with pytest.raises(ConfigError, match=message):
        Archive.open(tmp_path / "a.zip")


def test_missing_member_is_refused(bundle, tmp_path):
    contents = members(bundle)
    del contents["journal.jsonl"]
    with pytest.raises(ConfigError, match="is in its list and missing"):
        Archive.open(zipped(tmp_path / "b.zip", contents))


def call(sample, n):
    return orjson.dumps({"at": [sample, 0, "main", n], "reply": {"content": f"{sample}{n}"}})


SHARE = {bytes([n]) * 32: call(*at) for n, at in enumerate([("b", 0), ("a", 1), ("a", 0)])}
SHARE[bytes([9]) * 32] = orjson.dumps({"tool": "search", "text": ""})


def test_calls_are_in_order_with_tools_last(tmp_path):
    lines = journal_lines(SHARE).splitlines()
    output = [orjson.loads(line.split(b" ", 2)[2]) for line in lines]
    assert [one.get("at", [one.get("tool")])[0] for one in output] == ["a", "a", "b", "search"]
    (tmp_path / "j").write_bytes(journal_lines(SHARE))
    restore_journal(tmp_path / "j", tmp_path / "journal")
    assert len([*Journal(tmp_path / "journal").entries()]) == 4
    assert all(Journal(tmp_path / "journal", read_only=True).get(key) == payload for key, payload in SHARE.items())


@pytest.mark.parametrize("at", [3, 70, 90, -1])
def test_line_with_a_changed_byte_is_not_an_entry(tmp_path, at):
    lines = journal_lines(SHARE).splitlines(keepends=True)
    hurt = bytearray(lines[1])
    hurt[at] ^= 1
    (tmp_path / "j").write_bytes(lines[0] + bytes(hurt) + b"".join(lines[2:]))
    restore_journal(tmp_path / "j", tmp_path / "journal")
    assert len([*Journal(tmp_path / "journal").entries()]) == (3 if at >= 0 else 2)


def test_entry_that_spans_lines_is_refused():
    with pytest.raises(ConfigError, match="is not a line of JSON"):
        journal_lines({bytes(32): b"{\n}"})
