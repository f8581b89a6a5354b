"""A choice by itself is resolved, changed by its own keys, and refused with what there is."""

import pytest

from components.core.errors import ConfigError
from runner.config.chosen import chosen


def test_a_choice_is_what_its_file_says_with_the_changes(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    assert chosen("tracking", "off", {})["uri"] is None
    assert chosen("tracking", "mlflow_server", {"traces": "all"}) == {
        "uri": "http://127.0.0.1:1", "artifacts": None, "traces": "all", "ui": None, "permits": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("of", {}, "tracking=of: did you mean off"),
        ("off", {"trace": "all"}, r"tracking\.trace: no such key; did you mean traces"),
        ("mlflow_server", {}, "MLFLOW_TRACKING_URI"),
    ],
)
def test_what_is_no_choice_is_refused(name, changes, said, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(ConfigError, match=said):
        chosen("tracking", name, changes)
