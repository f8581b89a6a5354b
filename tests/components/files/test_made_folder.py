import json

import pytest

from components.core.errors import ConfigError
from components.files.made_folder import MadeFolder


def test_a_folder_is_gone_on_with_by_the_same_settings_only(tmp_path):
    home = MadeFolder(tmp_path / "made")
    with home.held():
        assert home.notes("a", "stage.name") == {}
        home.note({"begun": "a", "status": "x"})
    assert home.notes("a", "stage.name")["status"] == "x"
    with pytest.raises(ConfigError, match=r"begun with other settings, data or prompts; choose another stage\.name"):
        home.notes("b", "stage.name")
    home.note({"begun": "a", "status": "new"})
    assert home.notes("b", "stage.name") == {}, "nothing is finished in it"


def test_a_second_process_is_refused_while_the_first_works(tmp_path):
    home = MadeFolder(tmp_path)
    with home.held(), pytest.raises(ConfigError, match="another process is at work"), home.held():
        pass
    with home.held():
        home.write("deep/file.txt", "x")
    assert (tmp_path / "deep" / "file.txt").read_text() == "x" and not list(tmp_path.rglob("*.tmp"))


def test_what_is_somebody_else_s_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ConfigError, match=r"holds thesis\.tex and no manifest\.json"):
        MadeFolder(tmp_path).notes("a", "stage.name")
    (tmp_path / "manifest.json").write_text(json.dumps([1]))
    with pytest.raises(ConfigError, match="is damaged"):
        MadeFolder(tmp_path).notes("a", "stage.name")


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot write"), MadeFolder(tmp_path / "file" / "below").held():
        pass
