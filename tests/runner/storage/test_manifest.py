"""A damaged manifest is named with the field."""

import json

import pytest

from components.core.errors import ConfigError
from runner.storage import manifest
from runner.storage.forms import misfit
from runner.storage.schema import Manifest
from tests.table import each_row

WHOLE = {
    "name": "a", "choices": {}, "dataset": {"name": "d", "split": "test", "samples": 1, "fingerprint": "0"},
    "status": "complete", "varied": {}, "seed": 0, "epochs": 1, "model_kind": "live", "command": "run", "notes": [],
    "counts": {"finished": 1, "wanted": 1, "errored": 0}, "sandbox": None, "git": {"commit": None, "dirty": False},
}  # fmt: skip


@each_row(
    "part, message",
    [
        ({"models": {"main": None}}, "models.main is null, not text"),
        ({"varied": None}, "varied is null, not names and values"),
        ({"name": ["a"]}, 'name is ["a"], not text'),
        ({"seed": "x"}, 'seed is "x", not a whole number or null'),
        ({"seed": True}, "seed is true, not a whole number or null"),
        ({"dataset": {"samples": "4"}}, 'dataset.samples is "4", not a whole number'),
        ({"by": {"score/x": "task"}}, 'by.score/x is "task", not a list'),
        ({"by": {"score/x": [1]}}, "by.score/x.0 is 1, not text"),
        ({"git": {"dirty": 0.5}}, "git.dirty is 0.5, not true or false or null"),
        ({"spent": {"usd": "1"}}, 'spent.usd is "1", not a number or null'),
        ({"sandbox": []}, "sandbox is [], not names and values or null"),
        ({"kinds": {"score/x": 1}}, "kinds.score/x is 1, not text"),
        ({"later": object}, ""),
        ({"sandbox": {"tier": "x", "kills": {"time": 1}}, "schema": 1, "end": None}, ""),
    ],
)
def test_the_first_field_of_another_type_is_named(part, message):
    assert misfit(part, Manifest) == message


@each_row("text", ["[" * 100_000, "[]", "null", "{", '{"name": null}', "\0"])
def test_a_damaged_manifest_is_named(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ConfigError, match=r"manifest\.json is damaged \("):
        manifest.read(tmp_path)


@each_row("name", [name for name in WHOLE if name not in ("counts", "sandbox", "git")])
def test_a_field_that_a_begun_run_lacks_is_named(tmp_path, name):
    (tmp_path / "manifest.json").write_text(json.dumps(WHOLE))
    assert manifest.read_begun(tmp_path) == WHOLE
    (tmp_path / "manifest.json").write_text(json.dumps({key: value for key, value in WHOLE.items() if key != name}))
    with pytest.raises(ConfigError, match=rf"is not the manifest of a run: it lacks {name}$"):
        manifest.read_begun(tmp_path)


@each_row("part, missing", [("counts", "counts.errored"), ("sandbox", "sandbox.tier"), ("dataset", "dataset.split")])
def test_a_part_of_a_field_that_a_begun_run_lacks_is_named(tmp_path, part, missing):
    of = (WHOLE[part] or {"tier": "x"}).copy()
    del of[missing.partition(".")[2]]
    (tmp_path / "manifest.json").write_text(json.dumps(WHOLE | {part: of | {"kills": {}} if part == "sandbox" else of}))
    with pytest.raises(ConfigError, match=f"it lacks {missing}$"):
        manifest.read_begun(tmp_path)
