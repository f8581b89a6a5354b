import pytest

from components.acting.voting import Majority, majority


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (["A", "B", "A"], Majority("A", False, {"A": 2, "B": 1})),
        (["C", "A", "A", "C", "B"], Majority("C", True, {"C": 2, "A": 2, "B": 1})),
        ([None, "D", None], Majority("D", False, {"D": 1})),
        ([None, None], Majority(None, False, {})),
        ([], Majority(None, False, {})),
    ],
)
def test_the_most_frequent_wins_and_of_equals_the_first(samples, expected):
    assert majority(samples) == expected
