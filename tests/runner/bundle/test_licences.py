"""Whether data may be passed on."""

import pytest

from runner.bundle.licences import may_go_along

CHOSEN = {"choices": {"dataset": "medqa"}, "varied": {}}


@pytest.mark.parametrize(
    ("notes", "privacy", "said", "allowed"),
    [
        (CHOSEN, "open", False, True),
        (CHOSEN, "phi", True, False),
        (CHOSEN | {"varied": {"dataset.path": "mine"}}, "open", False, False),
        (CHOSEN | {"varied": {"dataset.path": "mine"}}, "open", True, True),
        ({"choices": {"dataset": "halt_medvqa"}}, "open", False, False),
        ({"choices": {"dataset": "../../pyproject"}}, "open", False, False),
        ({"choices": {}}, "open", False, False),
    ],
)
def test_data_go_along_where_class_and_licence_let_everyone_have_them(notes, privacy, said, allowed):
    assert may_go_along(notes, privacy, said)[0] is allowed
