import json

import pytest

from components.core.errors import ConfigError
from components.files.folders import MadeFolder, keep_documents, keep_json
from components.files.rows import content_key


def test_a_run_folder_is_resumed_only_with_the_same_settings(tmp_path):
    home = MadeFolder(tmp_path / "made")
    with home.held():
        assert home.notes("a", "stage.name") == {}
        home.note({"begun": "a", "status": "x"})
    assert home.notes("a", "stage.name")["status"] == "x"
    with pytest.raises(ConfigError, match=r"started with other settings, data or prompts; choose another stage\.name"):
        home.notes("b", "stage.name")
    home.note({"begun": "a", "status": "new"})
    assert home.notes("b", "stage.name") == {}, "nothing is finished in it"


def test_a_second_process_is_refused_while_the_first_works(tmp_path):
    home = MadeFolder(tmp_path)
    with home.held(), pytest.raises(ConfigError, match="is in use by another process"), home.held():
        pass
    with home.held():
        home.write("deep/file.txt", "x")
    assert (tmp_path / "deep" / "file.txt").read_text() == "x" and not list(tmp_path.rglob("*.tmp"))


def test_files_of_another_program_are_left_unchanged(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError, match=r"holds thesis\.tex and no manifest\.json"):
        MadeFolder(tmp_path).notes("a", "stage.name")
    (tmp_path / "manifest.json").write_text(json.dumps([1]))
    with pytest.raises(ConfigError, match="is damaged"):
        MadeFolder(tmp_path).notes("a", "stage.name")


def test_an_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write"), MadeFolder(tmp_path / "file" / "below").held():
        pass


TEXTS = {"a.txt": "Größe\r\n", "b.txt": ""}


def test_documents_are_written_once_and_named_by_their_content(tmp_path):
    folder = keep_documents(tmp_path / "cache", TEXTS)
    assert {file.name: file.read_bytes().decode() for file in folder.iterdir()} == TEXTS
    stamp = (folder / "a.txt").stat().st_mtime_ns
    assert keep_documents(tmp_path / "cache", TEXTS) == folder and (folder / "a.txt").stat().st_mtime_ns == stamp
    assert keep_documents(tmp_path / "cache", {**TEXTS, "b.txt": "x"}) != folder
    assert sorted(len(path.name) for path in (tmp_path / "cache").iterdir()) == [16, 16], "nothing half-done is left"


def test_documents_that_were_changed_are_refused(tmp_path):
    folder = keep_documents(tmp_path, TEXTS)
    (folder / "a.txt").unlink()
    with pytest.raises(ConfigError, match="was changed since it was written; delete it"):
        keep_documents(tmp_path, TEXTS)


def test_cache_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"dataset\.cache: cannot write"):
        keep_documents(tmp_path / "file", TEXTS)
    with pytest.raises(ConfigError, match=r"dataset\.cache: cannot write"):
        keep_json(tmp_path / "file", "a", list)


def test_a_value_is_made_once_per_key(tmp_path):
    assert keep_json(tmp_path / "c", "a", lambda: [1]) == keep_json(tmp_path / "c", "a", list) == [1]
    assert keep_json(tmp_path / "c", "b", list) == []
    assert sorted(file.name for file in (tmp_path / "c").iterdir()) == ["a.json", "b.json"], "nothing else is left"


def test_key_distinguishes_texts_and_their_boundaries():
    assert len({content_key("ab", "c"), content_key("a", "bc"), content_key("abc"), content_key("ab", "c", "")}) == 4
