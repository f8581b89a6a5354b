"""What may be read, and that the project is not among it."""

import sys
from pathlib import Path

import pytest

from components.sandbox import places


def test_folders_below_others_are_left_out():
    assert places.outermost(["/a/b", "/a", "/ab", "/a/b/c", "/c/d/"]) == ["/a", "/ab", "/c/d"]


@pytest.mark.parametrize(
    ("path", "folder", "inside"), [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/", True)]
)
def test_within_goes_by_whole_names(path, folder, inside):
    assert places.within(path, folder) is inside


def test_what_is_refused_is_left_out_however_deep(tmp_path):
    for name in ("lib/site/components/a", "lib/site/pandas/b", "lib/x"):
        (tmp_path / name).mkdir(parents=True)
    kept = places.without([str(tmp_path)], [str(tmp_path / "lib/site/components")])
    assert sorted(Path(path).relative_to(tmp_path).as_posix() for path in kept) == ["lib/site/pandas", "lib/x"]


def test_the_interpreter_is_readable_and_the_project_hidden():
    found = places.interpreter()
    assert any(places.within(sys.base_prefix, path) for path in found)
    assert all(Path(path).is_dir() for path in places.hidden())
    assert not any(
        places.within(path, one) for path in places.hidden() for one in places.without(found, places.hidden())
    )
