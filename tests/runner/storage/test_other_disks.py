"""File systems that are not the machine's own: one behind FUSE, and one without locks, as NFS whose lock service is down.

NFS itself needs a kernel that mounts it. The first test runs with ``WARDROUND_TEST_SLOW=1 python -m pytest
tests/runner/storage/test_other_disks.py`` as root, after ``apt-get install bindfs``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slow import slow

ROOT = Path(__file__).resolve().parents[3]
HERE = ("test_journal.py", "test_records.py", "test_resume.py")
NO_LOCKS = "#include <errno.h>\nint flock(int file, int operation) { errno = ENOLCK; return -1; }\n"
OPEN = "from pathlib import Path\nfrom runner.storage.records import RecordWriter\nRecordWriter(Path('run'))"


@slow
def test_journal_locks_and_records_on_a_file_system_behind_fuse(tmp_path):
    if shutil.which("bindfs") is None:
        pytest.skip("not installed: bindfs (apt-get install bindfs)")
    for name in ("disk", "mount"):
        (tmp_path / name).mkdir()
    mounted = subprocess.run(
        ["bindfs", tmp_path / "disk", tmp_path / "mount"], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"FUSE cannot be mounted here: {mounted.stderr.strip()}")
    try:
        tests = [str(Path(__file__).with_name(name)) for name in HERE]
        line = [sys.executable, "-m", "pytest", "-q", "-x", f"--basetemp={tmp_path / 'mount' / 'tests'}", *tests]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    finally:
        subprocess.run(["fusermount", "-u", tmp_path / "mount"], check=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_folder_on_a_file_system_without_locks_is_refused(tmp_path):
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("not installed: cc")
    (tmp_path / "locks.c").write_text(NO_LOCKS)
    library = tmp_path / "locks.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "locks.c"], check=True)
    env = os.environ | {"LD_PRELOAD": str(library), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", OPEN], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert "run cannot be written: No locks available; its file system has no locks (flock)" in done.stderr
    assert not (tmp_path / "run" / "records.jsonl").exists()
