"""Local paths are removed from a packed config and resolved on another machine."""

import pytest

from components.core.errors import ConfigError
from runner.bundle.settings import portable, resolve_config
from tests.table import each_row


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    (tmp_path / "data" / "set").mkdir(parents=True)
    (tmp_path / "mine.json").write_text("[]")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLINICAL_DATA_DIR", str(tmp_path / "data"))


@each_row(
    "key, text, packed",
    [
        ("path", "data/set", "{CLINICAL_DATA_DIR}/set"),
        ("path", "mine.json", "{named}/mine.json"),
        ("path", "/not/there", "{named}/there"),
        ("path", "../up", "{named}/up"),
        ("path", "gone.json", "gone.json"),
        ("name", "mine.json", "mine.json"),
        ("split", "data", "data"),
        ("cache", "/tmp/cache/x", "outputs/.cache/x"),
        ("cache", "outputs/.cache/x", "outputs/.cache/x"),
        ("api_base", "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
        ("model", "org/model", "org/model"),
    ],
)
def test_local_path_becomes_portable(key, text, packed):
    assert portable({"dataset": {"deep": [{key: text}]}}, {})["dataset"] == {"deep": [{key: packed}]}


def test_packed_paths_resolve_in_the_bundle_and_others_where_given(tmp_path):
    cfg = {"dataset": {"path": "mine.json", "more": str(tmp_path / "data" / "set"), "other": "/a/b"}}
    packed = portable(cfg, {"dataset.path": "data/dataset.path/mine.json"})
    here = resolve_config(packed, tmp_path / "b", {"dataset.other": "elsewhere"})["dataset"]
    assert here == {
        "path": str(tmp_path / "b/data/dataset.path/mine.json"), "more": str(tmp_path / "data/set"), "other": "elsewhere",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{named}/x.json", r"does not hold a\.path, which was called 'x.json': give a\.path=PATH"),
        ("{CLINICAL_DATA_DIR}/x", r"does not hold a\.path: set CLINICAL_DATA_DIR"),
        ("{bundle}/../../etc", "leads out of it"),
        ("{CLINICAL_DATA_DIR}/../../etc", "leads out of CLINICAL_DATA_DIR"),
        ("{CLINICAL_DATA_DIR}//etc/passwd", "leads out of CLINICAL_DATA_DIR"),
        ("/etc/passwd", "names a path of this machine"),
        ("~/x", "names a path of this machine"),
        ("a/../../x", "names a path of this machine"),
    ],
)
def test_unresolved_or_escaping_path_is_refused(text, message, tmp_path, monkeypatch):
    monkeypatch.delenv("CLINICAL_DATA_DIR")
    with pytest.raises(ConfigError, match=message):
        resolve_config({"a": {"path": text}}, tmp_path / "b", {})


def test_key_without_a_path_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="seed: a replay accepts no setting that could change"):
        resolve_config({"seed": 0}, tmp_path, {"seed": "1"})
