"""Whether data may be passed on."""

from pathlib import Path

import pytest

from runner.bundle.licences import may_go_along

CHOSEN = {"choices": {"dataset": "medqa"}}
OURS, OTHERS = {"dataset.path": Path("/data/medqa")}, {"dataset.path": Path("/data/mine")}


@pytest.mark.parametrize(
    ("notes", "privacy", "said", "named", "allowed"),
    [
        (CHOSEN, "open", False, OURS, True),
        (CHOSEN, "phi", True, OURS, False),
        (CHOSEN, "open", False, OTHERS, False),
        (CHOSEN, "open", False, OURS | {"dataset.more": Path("/data/more")}, False),
        (CHOSEN, "open", True, OTHERS, True),
        ({"choices": {"dataset": "halt_medvqa"}}, "open", False, {}, False),
        ({"choices": {"dataset": "../../pyproject"}}, "open", False, {}, False),
        ({"choices": {}}, "open", False, {}, False),
    ],
)
def test_data_go_along_where_class_and_licence_let_everyone_have_them(
    monkeypatch, notes, privacy, said, named, allowed
):
    monkeypatch.setenv("CLINICAL_DATA_DIR", "/data")
    assert may_go_along(notes, privacy, said, named)[0] is allowed


def test_nothing_is_the_choices_own_where_the_folder_of_the_data_is_not_known(monkeypatch):
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    assert may_go_along(CHOSEN, "open", False, OURS)[0] is False
