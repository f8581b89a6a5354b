import pytest

from components.core.errors import ConfigError
from components.files.data_paths import inside
from components.files.rows import Row
from tests.components.cab_files import write

ROW = Row("data.json: record 3", {})


def test_relative_path_is_resolved_below_the_root(tmp_path):
    file = write(tmp_path / "root" / "a" / "b.txt", "x")
    assert inside(tmp_path / "root", ROW, "images", "a/b.txt") == file
    assert inside(tmp_path / "root", ROW, "images", "./a") == file.parent


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "a/../../secret.txt",
        "/etc/passwd",
        "C:\\x",
        "..\\secret.txt",
        "link/secret.txt",
        ".",
        "a\0b",
        "x" * 5000,
        "loop/a",
    ],
)
def test_path_that_leaves_the_root_is_refused(tmp_path, name):
    write(tmp_path / "secret.txt", "x")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    (tmp_path / "root" / "loop").symlink_to("loop")
    with pytest.raises(ConfigError) as caught:
        inside(tmp_path / "root", ROW, "images", name)
    assert str(caught.value).startswith("data.json: record 3: images: must be a relative path below")


def test_missing_file_says_how_to_get_it(tmp_path):
    with pytest.raises(ConfigError, match=r"record 3: images: there is no .*a\.png; draw it"):
        inside(tmp_path, ROW, "images", "a.png", "draw it")


def test_root_may_itself_be_a_link(tmp_path):
    write(tmp_path / "real" / "a.txt", "x")
    (tmp_path / "root").symlink_to(tmp_path / "real")
    assert inside(tmp_path / "root", ROW, "images", "a.txt").read_text() == "x"
