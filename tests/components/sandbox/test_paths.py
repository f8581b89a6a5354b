"""What may be read, not the project among it, and the folder that cells write."""

import os
import sys
from pathlib import Path

import pytest

from components.sandbox import Limits, Sandbox, paths
from components.sandbox.paths import Folder, remove, remove_inside
from tests.components.sandbox.attacks.attack import THOROUGH
from tests.components.sandbox.conftest import PROBE
from tests.slow import slow
from tests.table import each_row


def test_folders_below_others_are_left_out():
    assert paths.outermost(["/a/b", "/a", "/ab", "/a/b/c", "/c/d/"]) == ["/a", "/ab", "/c/d"]


@each_row("path, folder, inside", [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/", True)])
def test_within_goes_by_whole_names(path, folder, inside):
    assert paths.within(path, folder) is inside


def test_refused_paths_are_left_out_at_any_depth(tmp_path):
    for name in ("lib/site/components/a", "lib/site/pandas/b", "lib/x"):
        (tmp_path / name).mkdir(parents=True)
    kept = paths.without([str(tmp_path)], [str(tmp_path / "lib/site/components")])
    assert sorted(Path(path).relative_to(tmp_path).as_posix() for path in kept) == ["lib/site/pandas", "lib/x"]


def test_the_interpreter_is_readable_and_the_project_hidden():
    found = paths.interpreter()
    assert any(paths.within(sys.base_prefix, path) for path in found)
    assert all(Path(path).is_dir() for path in paths.HIDDEN)
    assert not any(paths.within(path, one) for path in paths.HIDDEN for one in paths.without(found, paths.HIDDEN))


def test_all_contents_are_removed_at_any_depth_and_with_any_permissions(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("kept")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(outside)
    (scratch / "folder").symlink_to(tmp_path)
    deep = os.open(scratch, os.O_RDONLY)
    for _ in range(200):
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
    ("files", "size", "exceeded"), [(1, 100, False), (3, 8192, True), (60, 0, True), (0, 0, False)]
)
def test_size_and_number_of_files_are_seen(tmp_path, monkeypatch, files, size, exceeded):
    monkeypatch.setattr("components.sandbox.paths._MOST_FILES", 50)
    for number in range(files):
        (tmp_path / f"{number}").write_bytes(b"x" * size)
    assert Folder(20_000, str(tmp_path)).exceeded() is exceeded


@slow
@pytest.mark.parametrize("barred", [False, True])
def test_unreadable_contents_count_as_exceeding_the_limit(tmp_path, barred):
    if barred and os.geteuid() == 0:
        pytest.skip("root may read every folder")
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1 if barred else 150):
        os.mkdir("d", 0o300 if barred else 0o700, dir_fd=here)
        below = os.open("d", os.O_PATH, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert Folder(1 << 20, str(tmp_path)).exceeded()
    remove(tmp_path)
    assert not tmp_path.exists()


HOSTILE = {
    "folders in folders": "for n in range(10**6): os.mkdir('d'); os.chdir('d')",
    "nameless files held by their mappings": (
        "import mmap\nheld = []\nfor n in range(40):\n    with open('f', 'w+b') as file:\n        file.write(bytes(1 << 19))\n"
        "        held.append(mmap.mmap(file.fileno(), 4096))\n    os.remove('f')\nanswer = 'all'"
    ),
}


@slow
@pytest.mark.parametrize("name", HOSTILE)
async def test_no_file_can_be_hidden_from_the_size_limit(held, name):
    tier = held.report()["tier"]
    if tier == "bwrap" and name == "folders in folders" and not THOROUGH:
        pytest.skip("Landlock looks at every folder above: it takes seconds; WARDROUND_TEST_SLOW=1")
    small = Sandbox(backend=tier, limits=Limits(scratch_bytes=1 << 20, wall_seconds=60, cpu_seconds=60))
    opened = small.open(PROBE)
    ran = await opened.run(f"import os\n{HOSTILE[name]}")
    assert ran.status in ("error", "killed") and ran.error.type != "Protocol"
    assert (await opened.run("import os\nanswer = os.listdir('.')")).answer == "[]"
    small.close()


@pytest.mark.parametrize("kept", [False, True])
async def test_it_is_empty_before_every_cell_unless_the_episode_keeps_it(held, kept):

    opened = held.open(PROBE, keep=kept)
    await opened.run("import os\nopen('f', 'w').write('x')\nos.makedirs('a/b')\nos.symlink('/', 'l')")
    assert (await opened.run("import os\nanswer = len(os.listdir('.'))")).answer == ("3" if kept else "0")
    opened.close()


async def test_more_than_it_may_hold_ends_the_cell(held):

    small = Sandbox(backend=held.report()["tier"], limits=Limits(scratch_bytes=1 << 20, wall_seconds=5))
    opened = small.open(PROBE)
    ran = await opened.run(
        "import time\nfor n in range(10):\n    with open(f'{n}', 'w') as f: f.write('x' * 500000)\ntime.sleep(4)"
    )
    assert ran.status in ("error", "killed") and ran.seconds < 3
    assert (await opened.run("import os\nanswer = os.listdir('.')")).answer == "[]"
    small.close()
