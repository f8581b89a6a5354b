from components.core.messages import Message, Usage
from components.core.types import Problem, Sample, Step, Trajectory
from components.scorers.length import Length
from tests.table import each_row

SAMPLE = Sample(Problem("p", "?"), None)


def values(
    *used: tuple[int | None, int | None], stop: str = "answered", failure: str | None = None
) -> list[float | None]:
    steps = [Step("act", "main", "main", n, 0, (), Message("assistant"), Usage(*one)) for n, one in enumerate(used)]
    return [one.value for one in Length().score(SAMPLE, Trajectory(steps, stop=stop, failure=failure))]


@each_row("used, found", [
    ([(900, 50), (1500, 20), (300, 100)], [1520.0, 3.0]), ([(900, 50), (None, None)], [None, 2.0]), ([], [None, None]),
])  # fmt: skip
def test_the_longest_call_counts_and_unreported_lengths_are_not_guessed(used, found):
    assert values(*used) == found


def test_the_length_of_a_call_that_exceeded_the_window_is_unknown():
    assert values((900, 50), (1500, 20), stop="failed", failure="context_length") == [None, 2.0]
    assert values((900, 50), stop="failed", failure="step_limit") == [950.0, 1.0]


def test_an_error_has_no_length():
    assert values((9, 1), stop="error") == [None, None]
