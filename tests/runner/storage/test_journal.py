"""The journal through real files and real processes."""

from __future__ import annotations

import base64
import gzip
import io
import os
import random
import signal
import subprocess
import sys
import tracemalloc
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from runner.storage import disk
from runner.storage import journal as journal_module
from runner.storage import journal_files as segment
from runner.storage.journal import Journal
from tests.slow import slow

ROOT = Path(__file__).parents[3]

WRITER = """
import sys
from pathlib import Path
from tests_journal import key, payload
from runner.storage.journal import Journal
folder, first, n, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
journal = Journal(folder)
for i in range(first, first + n):
    journal.put(key(i), payload(i))
    sys.stdout.write(f"{i}\\n")
    sys.stdout.flush()
if end == "wait":
    sys.stdin.read()
if end != "drop":
    journal.close()
"""

HELPER = """
from hashlib import sha256
import random
def key(n): return sha256(str(n).encode()).digest()
def payload(n): return f"reply {n} ".encode() * (n % 40) + random.Random(n).randbytes(n % 300)
"""


def key(n: int | str) -> bytes:
    return sha256(str(n).encode()).digest()


def payload(n: int) -> bytes:
    return f"reply {n} ".encode() * (n % 40) + random.Random(n).randbytes(n % 300)


def spawn(folder: Path, first: int, n: int, end: str = "close") -> subprocess.Popen[str]:
    """A process that writes ``n`` entries, saying each; then closes, waits to be killed, or ends without closing."""
    helpers = folder.parent / "helpers"
    helpers.mkdir(exist_ok=True)
    if not (module := helpers / "tests_journal.py").exists():  # another process may be importing it
        module.write_text(HELPER)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{helpers}"}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(first), str(n), end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def wrote(process: subprocess.Popen[str], n: int) -> None:
    """Wait until the process has reported ``n`` entries."""
    assert process.stdout is not None
    for _ in range(n):
        assert process.stdout.readline()


def fill(folder: Path, first: int, n: int) -> None:
    with Journal(folder) as journal:
        for i in range(first, first + n):
            journal.put(key(i), payload(i))


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def files(folder: Path) -> dict[str, tuple[int, int]]:
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir()}


def count_entries(journal: Journal, n: int) -> int:
    """How many of the first ``n`` entries are there; a wrong one fails."""
    replies = [journal.get(key(i)) for i in range(n)]
    assert all(reply in (None, payload(i)) for i, reply in enumerate(replies))
    return sum(reply is not None for reply in replies)


# reading and writing


def test_entries_are_read_by_the_writer_and_after_reopening(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        for i in range(100):
            assert journal.get(key(i)) is None
            journal.put(key(i), payload(i))
            assert journal.get(key(i)) == payload(i)
        assert count_entries(journal, 100) == 100
    assert count_entries(journal, 100) == 100  # after closing
    again = Journal(tmp_path)
    assert count_entries(again, 100) == 100 and again.get(key("other")) is None
    assert [k for k, _ in again.entries()] == [key(i) for i in range(100)]
    assert again.repaired == 0


def test_last_written_is_of_the_segments_that_answered(tmp_path: Path) -> None:
    fill(tmp_path, 0, 2)
    os.utime(only(tmp_path, "*.segment"), (1_000, 1_000))
    fill(tmp_path, 2, 2)
    with Journal(tmp_path) as journal:
        assert journal.last_written is None, "nothing was asked"
        journal.get(key(0))
        assert journal.last_written == 1_000, "the newer segment answered nothing"
        journal.get(key(2))
        assert (journal.last_written or 0) > 1_000


def test_payloads_of_any_size_round_trip(tmp_path: Path) -> None:
    sizes = [0, 1, 65_535, 70_000, 3_000_000]
    data = [random.Random(size).randbytes(size) for size in sizes] + [bytes(200_000)]
    with Journal(tmp_path) as journal:
        for i, content in enumerate(data):
            journal.put(key(i), content)
    assert [Journal(tmp_path).get(key(i)) for i in range(len(data))] == data


def test_read_only_journal_creates_no_file(tmp_path: Path) -> None:
    with Journal(tmp_path / "new") as journal:
        assert journal.get(key(1)) is None
    assert list((tmp_path / "new").iterdir()) == []


def test_a_segment_that_was_removed_is_noticed_at_the_next_member(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.reserve()
        only(tmp_path / "journal", "*.segment").unlink()
        with pytest.raises(disk.Unwritable, match="it was removed"):
            for n in range(segment.MEMBER_ENTRIES + 1):
                journal.put(key(n), payload(n))


def test_the_first_entry_of_a_key_wins(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.put(key(1), b"first")
        journal.put(key(1), b"second")
        assert journal.get(key(1)) == b"first"
    with Journal(tmp_path) as later:
        later.put(key(1), b"third")
        assert later.get(key(1)) == b"first"
    assert Journal(tmp_path).get(key(1)) == b"first"


def test_oldest_segment_wins_for_a_key_with_two_writers(tmp_path: Path) -> None:
    older, younger = Journal(tmp_path), Journal(tmp_path)
    older.put(key("something else"), b"")
    younger.put(key(1), b"younger")
    older.put(key(1), b"older")
    younger.close()
    assert Journal(tmp_path).get(key(1)) == b"older"  # the older one is still live
    older.close()
    assert Journal(tmp_path).get(key(1)) == b"older"
    assert [reply for k, reply in Journal(tmp_path).entries() if k == key(1)] == [b"older", b"younger"]


def test_new_segment_is_younger_than_existing_ones_at_any_clock_time(tmp_path: Path) -> None:
    fill(tmp_path, 0, 1)
    old = only(tmp_path, "*.segment")
    old.rename(tmp_path / f"{10**19:020d}-ffffffff.segment")
    with Journal(tmp_path) as journal:
        journal.put(key(0), b"later")
    assert Journal(tmp_path).get(key(0)) == payload(0)


def test_unclosed_journal_is_sealed_by_the_next_one(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for i in range(20):
        journal.put(key(i), payload(i))
    del journal
    with Journal(tmp_path) as later:
        assert count_entries(later, 20) == 20 and later.repaired == 1


def test_wrong_use_is_refused_with_a_clear_message(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(ValueError, match=r"32 bytes, found 3: b'abc'"):
        journal.put(b"abc", b"")
    with pytest.raises(io.UnsupportedOperation, match="read_only"):
        Journal(tmp_path, read_only=True).put(key(1), b"")


def test_a_segment_is_a_gzip_file_without_requests_or_payloads_in_memory(tmp_path: Path) -> None:
    tracemalloc.start()
    with Journal(tmp_path) as journal:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(1_000):
            journal.put(key(i), os.urandom(5_000))
        assert tracemalloc.get_traced_memory()[0] - before < 1_000_000
    tracemalloc.stop()
    with gzip.open(only(tmp_path, "*.segment")) as file:
        assert len(file.read()) == 1_000 * 5_040


def test_long_run_seals_segments_along_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_SEGMENT_ENTRIES", 50)
    with Journal(tmp_path) as journal:
        for i in range(1_000):
            journal.put(key(i), payload(i))
        assert len(list(tmp_path.glob("*.segment"))) == 20
        assert count_entries(journal, 1_000) == 1_000
    assert len(list(tmp_path.glob("*.index"))) <= 6
    assert count_entries(Journal(tmp_path), 1_000) == 1_000


# processes


def test_a_killed_writer_loses_at_most_the_entry_in_flight(tmp_path: Path) -> None:
    folder, n_written = tmp_path / "journal", 0
    for n in (1, 37):
        process = spawn(folder, n_written, 100_000)
        wrote(process, n)
        kill(process)
        n_written += n
        with Journal(folder) as journal:
            assert journal.repaired == 1
            assert count_entries(journal, n_written) == n_written
        assert Journal(folder).repaired == 0


@slow
def test_two_processes_write_concurrently(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    writers = [spawn(folder, first, 400) for first in (0, 400)]
    assert [len(writer.communicate()[0].split()) for writer in writers] == [400, 400]
    assert len(list(folder.glob("*.segment"))) == 2
    assert count_entries(Journal(folder), 800) == 800


def test_entries_of_a_live_process_are_read_and_its_segment_is_unchanged(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    process = spawn(folder, 0, 30, "wait")
    wrote(process, 30)
    with Journal(folder) as journal:
        assert count_entries(journal, 30) == 30 and journal.repaired == 0
    assert not list(folder.glob("*.index"))
    kill(process)
    with Journal(folder) as journal:
        assert count_entries(journal, 30) == 30 and journal.repaired == 1


@slow
def test_concurrent_openers_seal_once_and_see_all_entries(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    dead = [spawn(folder, first, 300, "wait") for first in (0, 300, 600)]
    for process in dead:
        wrote(process, 300)
    for process in dead:
        kill(process)
    script = (
        "import sys; from pathlib import Path; from runner.storage.journal import Journal; from tests_journal import key\n"
        "sys.stdin.readline(); j = Journal(Path(sys.argv[1]))\n"
        "print(sum(j.get(key(i)) is not None for i in range(900)), j.repaired)"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'helpers'}"}
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(5)
    ]
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    seen = [opener.communicate()[0].split() for opener in openers]
    assert [entries for entries, _ in seen] == ["900"] * 5
    assert sum(int(repaired) for _, repaired in seen) == 3
    assert len(list(folder.glob("*.index"))) == 1


@slow
def test_a_child_of_a_killed_writer_does_not_hold_its_segment(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    spawn(folder, 0, 20).communicate()
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from runner.storage.journal import Journal; from tests_journal import key, payload\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for i in range(20, 50): journal.put(key(i), payload(i))\n"
        "if not os.fork(): print(os.getpid(), flush=True)\n"
        "time.sleep(60)"
    )
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'helpers'}"}
    process = subprocess.Popen([sys.executable, "-c", script, str(folder)], env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.wait()
    try:
        journal = Journal(folder)
        assert journal.repaired == 1 and count_entries(journal, 50) == 50
    finally:
        os.kill(child, signal.SIGKILL)
        process.stdout.close()


def test_a_failed_write_leaves_a_good_segment(tmp_path: Path) -> None:
    """The file size limit of a process simulates a full disk."""
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from runner.storage.journal import Journal; from tests_journal import key, payload\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); journal = Journal(Path(sys.argv[1]))\n"
        "for i in range(100): journal.put(key(i), payload(i))\n"
        "size = next(Path(sys.argv[1]).glob('*.segment')).stat().st_size\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))\n"
        "for _ in range(2):\n"
        "    try: journal.put(key(100), payload(139))\n"
        "    except OSError as error: print(error.errno)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "for i in range(100, 200): journal.put(key(i), payload(i))\n"
        "print(sum(journal.get(key(i)) == payload(i) for i in range(200))); journal.close()"
    )
    folder = tmp_path / "journal"
    spawn(folder, 0, 0).communicate()
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path / 'helpers'}"}
    process = subprocess.run(
        [sys.executable, "-c", script, str(folder)], env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["28", "27", "200"]
    assert count_entries(Journal(folder), 200) == 200


# damage


def test_truncated_segments_never_give_a_wrong_entry(tmp_path: Path) -> None:
    source = tmp_path / "whole"
    fill(source, 0, 60)
    name, whole = only(source, "*.segment").name, only(source, "*.segment").read_bytes()
    entries = [entry.at for entry in segment.scan(source / name)]
    draw = random.Random(7)
    for case in range(40):
        cut = draw.randrange(len(whole))
        tail = [
            b"",
            bytes(draw.randrange(1, 400)),
            draw.randbytes(draw.randrange(1, 400)),
            whole[: draw.randrange(400)],
        ]
        folder = tmp_path / str(case)
        folder.mkdir()
        (folder / name).write_bytes(whole[:cut] + tail[case % 4])
        with Journal(folder) as journal:
            kept = count_entries(journal, 60)
        assert kept >= sum(at // 16 < cut for at in entries) - 16  # members before the cut are there
        assert list(dict(journal.entries()))[:kept] == [key(i) for i in range(kept)]


def test_truncation_loses_only_the_entries_after_the_cut(tmp_path: Path) -> None:
    ends = []
    with Journal(tmp_path / "whole") as journal:
        for i in range(40):
            journal.put(key(i), payload(i))
            ends.append(only(tmp_path / "whole", "*.segment").stat().st_size)
    path = only(tmp_path / "whole", "*.segment")
    draw = random.Random(3)
    for case in range(24):
        n = draw.randrange(1, 40)
        folder = tmp_path / str(case)
        folder.mkdir()
        noise = (bytes(50), draw.randbytes(50), b"")[case % 3]
        (folder / path.name).write_bytes(path.read_bytes()[: ends[n - 1]] + noise)
        assert count_entries(Journal(folder), 40) == n


@slow
def test_flipped_bytes_lose_one_member_and_never_give_a_wrong_entry(tmp_path: Path) -> None:
    source = tmp_path / "whole"
    fill(source, 0, 96)
    name, whole = only(source, "*.segment").name, only(source, "*.segment").read_bytes()
    draw = random.Random(11)
    for case in range(12):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(whole))] ^= draw.randrange(1, 256)
        folder = tmp_path / str(case)
        folder.mkdir()
        (folder / name).write_bytes(damaged)
        assert count_entries(Journal(folder), 96) >= 80  # indexed again
        (source / name).write_bytes(damaged)
        assert count_entries(Journal(source), 96) >= 80  # through the index of the whole one


# indices


def test_a_damaged_index_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path, 0, 700)
    draw = random.Random(5)
    for case in range(6):
        path = only(tmp_path, "*.index")
        data = bytearray(path.read_bytes())
        if case % 3 == 0:
            data = data[: draw.randrange(len(data))]
        elif case % 3 == 1:
            data[draw.randrange(len(data))] ^= draw.randrange(1, 256)
        else:
            at = draw.randrange(len(data) - 64)
            data[at : at + 64] = draw.randbytes(64)
        path.write_bytes(data)
        before = files(tmp_path)
        assert count_entries(Journal(tmp_path, read_only=True), 700) == 700
        assert files(tmp_path) == before
        assert count_entries(Journal(tmp_path), 700) == 700
        for spare in tmp_path.glob("*.index"):  # a damaged one stays until a merge
            if spare.read_bytes() == data:
                spare.unlink()
    assert count_entries(Journal(tmp_path), 700) == 700


def test_completely_damaged_journal_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fill(tmp_path, 0, 20)
    for path in tmp_path.iterdir():
        path.write_text("nonsense")
    assert count_entries(Journal(tmp_path, read_only=True), 20) == 0
    assert count_entries(Journal(tmp_path), 20) == count_entries(Journal(tmp_path), 20) == 0
    line = f"the journal {tmp_path} is damaged: no entry in 1 of its segments is whole, their calls are sent again"
    assert caplog.messages == [line] * 2


def test_wrong_index_with_a_valid_checksum_gives_no_wrong_entry(tmp_path: Path) -> None:
    fill(tmp_path / "one", 0, 50)
    fill(tmp_path / "two", 50, 50)
    one, two = only(tmp_path / "one", "*.segment"), only(tmp_path / "two", "*.segment")
    size = one.stat().st_size
    one.write_bytes(two.read_bytes().ljust(size, b"\0")[:size])
    journal = Journal(tmp_path / "one")
    assert [journal.get(key(i)) for i in range(50)] == [None] * 50


def test_a_lost_or_outdated_index_is_built_again(tmp_path: Path) -> None:
    fill(tmp_path, 0, 40)
    only(tmp_path, "*.index").unlink()
    with Journal(tmp_path) as journal:
        assert count_entries(journal, 40) == 40 and journal.repaired == 1
    with Journal(tmp_path / "more") as other:
        other.put(key(40), payload(40))
    with only(tmp_path, "*.segment").open("ab") as file:  # a copy that was made while it grew
        file.write(only(tmp_path / "more", "*.segment").read_bytes())
    assert count_entries(Journal(tmp_path), 41) == 41


# A journal of three entries as it was written with indices of the version before (zlib, base85).
OLD_SEGMENT = (
    b"c-oWi=3oE;7G?&0h714W-@H!ye<I)FW>7^=Ze~v9q1%Tn@A^&LlCF8(O8s~EOLm~r>&XnFMX3cjl?nzx-v9rn@@|Lxx&P$+;hi^m"
    b">;5l(bNKFcy~?c~@z*{##9X-h_U*-c3QrU7^7|^D;$;MD*cBv`zEn*8+q=fvl*I3EBGQgozA@h>J9U1+X)WFNy&tlICww|&bkS1a"
    b"sT%`W12cnxqUe!cAR7SOQBlP"
)
OLD_INDEX = (
    b"c-qUq9ew)ZjB1CcOsg1;U!6&54P?z+ll!@6lpdu==}~%=9;HX=;Y%|yKma2HD)>JNM!_f;1*2dTjDlec@}d3zn1-!d(a}l<hUS*0"
    b"W+n#4=0+AKW|pRwMrH=OX$A%c$%Y0ddc~>fxv6<2N;-z-rm?Z0CWAf@uj9_WQJz?ol9^Ir2mm6M)bj"
)


def test_an_index_of_another_version_is_built_again(tmp_path: Path) -> None:
    old = tmp_path / "old.index"
    old.write_bytes(zlib.decompress(base64.b85decode(OLD_INDEX)))
    (tmp_path / "01795640372846959260-f000c104.segment").write_bytes(zlib.decompress(base64.b85decode(OLD_SEGMENT)))
    for read_only in (True, False):
        with Journal(tmp_path, read_only=read_only) as journal:
            assert [journal.get(key(i)) for i in range(4)] == [b"reply 0", b"reply 1", b"reply 2", None]
            assert [index.name for index in journal._indices] != [old.name]
    with Journal(tmp_path) as journal:
        assert journal.repaired == 0 and journal.get(key(2)) == b"reply 2"


def test_merging_does_not_block_a_writer(tmp_path: Path) -> None:
    for n in range(6):
        fill(tmp_path, n, 1)
    with Journal(tmp_path) as journal, disk.locked(tmp_path / ".lock"):  # as while another process merges
        journal.put(key(6), payload(6))
        journal._seal()
        journal.put(key(7), payload(7))
        assert len(journal._indices) == 7 and count_entries(journal, 8) == 8
    assert len(list(tmp_path.glob("*.index"))) <= 2
    assert count_entries(journal, 8) == count_entries(Journal(tmp_path), 8) == 8


def test_listed_but_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.tmp").symlink_to("nowhere")
    for read_only in (True, False):
        with pytest.raises(FileNotFoundError, match=r"x\.tmp"):
            Journal(tmp_path, read_only=read_only)


def test_many_segments_are_searched_through_few_indices(tmp_path: Path) -> None:
    for n in range(120):  # as if all had written at once, without seeing the others' indices
        fill(tmp_path / "part", n, 1)
        for path in (tmp_path / "part").iterdir():
            path.rename(tmp_path / path.name)
    (tmp_path / "part").rmdir()
    assert len(list(tmp_path.glob("*.index"))) == 120
    before = files(tmp_path)
    frozen = Journal(tmp_path, read_only=True)
    frozen.close()
    assert files(tmp_path) == before
    assert count_entries(frozen, 120) == 120
    journal = Journal(tmp_path)
    assert journal.get(key("none")) is None
    journal.close()
    assert len(journal._indices) <= 3 and len(list(tmp_path.glob("*.index"))) <= 3
    assert count_entries(journal, 120) == 120 and journal.get(key("none")) is None
    assert len(Journal(tmp_path)._indices) <= 3


def test_indices_stay_few_while_segments_are_added(tmp_path: Path) -> None:
    for n in range(24):
        fill(tmp_path, 3 * n, 3)
        assert len(list(tmp_path.glob("*.index"))) <= 6
    assert count_entries(Journal(tmp_path), 72) == 72


@slow
def test_merging_keeps_every_row_and_the_age_of_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "_MAX_INDICES", 3)
    for n in range(6):
        with Journal(tmp_path) as journal:
            for i in range(n * 300, n * 300 + 700):  # each key is in up to three segments
                journal.put(key(i), payload(i) + b" from %d" % n)
    journal = Journal(tmp_path)
    for i in range(0, 5 * 300 + 700, 5):
        assert journal.get(key(i)) == payload(i) + b" from %d" % max(0, -(-(i - 699) // 300))


@slow
def test_processes_that_merge_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    for round_ in range(2):
        writers = [spawn(folder, 40 * n, 40) for n in range(4 * round_, 4 * round_ + 4)]
        assert all(len(writer.communicate()[0].split()) == 40 for writer in writers)
    assert count_entries(Journal(folder), 320) == 320


# read only


@slow
def test_read_only_creates_nothing_even_if_repair_is_needed(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    spawn(folder, 0, 200).communicate()
    process = spawn(folder, 200, 100, "wait")
    wrote(process, 100)
    kill(process)
    before = files(folder)
    folder.chmod(0o555)
    with Journal(folder, read_only=True) as journal:
        assert count_entries(journal, 300) == 300
        assert len(dict(journal.entries())) == 300
    folder.chmod(0o755)
    assert files(folder) == before


def test_read_only_journal_of_a_missing_folder_is_empty(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "none", read_only=True)
    assert journal.get(key(1)) is None and list(journal.entries()) == []
    assert not (tmp_path / "none").exists()


def test_orphaned_indices_and_unknown_files_are_ignored(tmp_path: Path) -> None:
    fill(tmp_path, 0, 20)
    fill(tmp_path, 20, 20)
    sorted(tmp_path.glob("*.segment"))[0].unlink()
    (tmp_path / "notes.segment").write_text("mine")
    (tmp_path / "empty.index").touch()
    (tmp_path / f"{1:020d}-0.segment").touch()
    with Journal(tmp_path) as journal:
        assert count_entries(journal, 40) == 20
    assert (tmp_path / "notes.segment").read_text() == "mine"
