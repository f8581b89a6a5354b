"""The limit of open files of a process that opens connections."""

import subprocess
import sys
from pathlib import Path

from tests.table import each_row

ROOT = Path(__file__).resolve().parents[3]


def limit_after(limits, connections):
    """The limit of open files, or the refusal, of a process that begins with these limits and opens connections."""
    script = (
        "import resource; from components.core.open_files import allow_open_files\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, {limits})\n"
        f"allow_open_files({connections}); print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip() or done.stderr.splitlines()[-1]


@each_row("limits, expected", [((300, 1000), "300"), ((100, 1000), "1000")])
def test_limit_of_open_files_is_raised_where_connections_need_it(limits, expected):
    assert limit_after(limits, 200) == expected


def test_more_connections_than_open_files_are_refused():
    text = "100 connections need 164 open files, and a process may have 80 here: ulimit -n 164, or model.max_connections=16"
    assert text in limit_after((80, 80), 100)


@each_row("most, connections, right", [(64, 1, 65), (12, 0, 64)])
def test_where_the_limit_itself_is_too_low_no_other_setting_is_named(most, connections, right):
    text = limit_after((most, most), connections)
    assert f"may have {most} open files here, and a run needs 64, and one more" in text
    assert text.endswith(f"raise the limit, as by ulimit -n {right}")
