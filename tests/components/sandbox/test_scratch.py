"""The folder that cells write."""

import os

import pytest

from components.sandbox import Limits, Sandbox
from components.sandbox.scratch import Folder, remove_inside
from tests.components.sandbox.conftest import LIBRARY


def test_everything_inside_is_removed_however_deep_and_however_barred(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("kept")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(outside)
    (scratch / "folder").symlink_to(tmp_path)
    deep = os.open(scratch, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", 0o300, dir_fd=deep)
        following = (
            os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=deep)
            if os.geteuid() == 0
            else os.open("d", os.O_PATH, dir_fd=deep)
        )
        os.close(deep)
        deep = following
    os.close(deep)
    (scratch / "barred").mkdir(0)
    folder = Folder(1000, str(scratch))
    assert folder.dirty()
    folder.empty()
    assert not folder.dirty() and outside.read_text() == "kept"
    remove_inside(scratch)


@pytest.mark.parametrize(
    ("files", "size", "exceeded"), [(1, 100, False), (3, 8192, True), (5000, 0, True), (0, 0, False)]
)
def test_size_and_number_of_files_are_seen(tmp_path, files, size, exceeded):
    for number in range(files):
        (tmp_path / f"{number}").write_bytes(b"x" * size)
    assert Folder(20_000, str(tmp_path)).exceeded() is exceeded


@pytest.mark.parametrize("kept", [False, True])
async def test_it_is_empty_before_every_cell_unless_the_episode_keeps_it(held, kept):

    opened = held.open(LIBRARY, keep=kept)
    await opened.run("import os\nopen('f', 'w').write('x')\nos.makedirs('a/b')\nos.symlink('/', 'l')")
    assert (await opened.run("import os\nanswer = len(os.listdir('.'))")).answer == ("3" if kept else "0")
    opened.close()


async def test_more_than_it_may_hold_ends_the_cell(held):

    small = Sandbox(backend=held.report()["tier"], limits=Limits(scratch_bytes=1 << 20, wall_seconds=5))
    opened = small.open(LIBRARY)
    ran = await opened.run(
        "import time\nfor n in range(10):\n    with open(f'{n}', 'w') as f: f.write('x' * 500000)\ntime.sleep(4)"
    )
    assert ran.status in ("error", "killed") and ran.seconds < 3
    assert (await opened.run("import os\nanswer = os.listdir('.')")).answer == "[]"
    small.close()
