import pytest

from components.panel.calls import calls_needed


@pytest.mark.parametrize(
    ("level", "m", "n", "dissents", "expected"),
    [
        ("analysis", 5, 2, (), 10),
        ("summary", 5, 2, (), 11),
        ("consultation", 5, 2, (0,), 18),
        ("consultation", 4, 2, (0,), 16),
        ("consultation", 5, 2, (7, 7, 7), 56),
        ("consultation", 4, 2, (6, 6, 6), 49),
        ("consultation", 1, 1, (1, 0), 12),
        ("summary", 5, 2, (3,), 11),
    ],
)
def test_calls_of_a_question(level, m, n, dissents, expected):
    assert calls_needed(level, m, n, dissents) == expected
