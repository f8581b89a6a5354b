"""Files that are made are written, and differences are told by name."""

from components.files.made_files import keep


def test_what_is_missing_or_other_is_stale_until_it_is_written(tmp_path, capsys):
    texts = {"a.json": "1\n", "deep/b.json": "2\n"}
    assert keep(tmp_path, texts, "two files", ["--check"]) == 1
    assert capsys.readouterr().err == "not what the tables give: a.json, deep/b.json; run without --check\n"
    assert not list(tmp_path.iterdir())
    assert keep(tmp_path, texts, "two files", []) == keep(tmp_path, texts, "two files", ["--check"]) == 0
    (tmp_path / "a.json").write_text("3\n")
    assert keep(tmp_path, texts, "two files", ["--check"]) == 1
    assert "give: a.json;" in capsys.readouterr().err
