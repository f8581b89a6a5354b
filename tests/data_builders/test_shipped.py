"""Built files are written, and differences are reported by name."""

import pytest

from data_builders.cab_mini import __main__ as cab_mini
from data_builders.ehr_mini import __main__ as ehr_mini
from data_builders.radabench_mini import __main__ as radabench_mini
from data_builders.shipped import keep
from data_builders.tools import __main__ as tools

BUILDERS = {
    "train/emrqa.json": cab_mini.main, "eicu/train.json": ehr_mini.main, "train.json": radabench_mini.main,
    "web.jsonl": tools.main,
}  # fmt: skip


@pytest.mark.parametrize("name", BUILDERS)
def test_shipped_files_equal_those_built_from_the_tables(tmp_path, capsys, name):
    build = BUILDERS[name]
    assert build(["--check"]) == 0
    assert build([], tmp_path) == build(["--check"], tmp_path) == 0
    (tmp_path / name).write_text("{}\n")
    assert build(["--check"], tmp_path) == 1
    assert capsys.readouterr().err == f"not what the tables give: {name}; run without --check\n"


def test_missing_or_different_file_is_stale_until_written(tmp_path, capsys):
    files = {"a.json": b"1\n", "deep/b.json": b"2\n"}
    assert keep(tmp_path, files, check=True) == 1
    assert capsys.readouterr().err == "not what the tables give: a.json, deep/b.json; run without --check\n"
    assert not list(tmp_path.iterdir())
    assert keep(tmp_path, files, check=False) == keep(tmp_path, files, check=True) == 0
    (tmp_path / "a.json").write_text("3\n")
    assert keep(tmp_path, files, check=True) == 1
    assert "give: a.json;" in capsys.readouterr().err


def test_unbuilt_files_are_removed_only_from_built_folders(tmp_path):
    keep(tmp_path, {"deep/a.json": b"1"}, check=False)
    for name in ("deep/old.json", "kept.md"):
        (tmp_path / name).write_text("x")
    assert keep(tmp_path, {"deep/a.json": b"1"}, check=True, folders=("deep",)) == 1
    assert keep(tmp_path, {"deep/a.json": b"1"}, check=False, folders=("deep",)) == 0
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["a.json", "kept.md"]
