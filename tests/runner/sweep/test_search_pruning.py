"""When a trial cannot be the best any more."""

from runner.sweep.search_study import worse
from tests.table import each_row


def ends(low, high):
    return {"ci_low": low, "ci_high": high}


@each_row(
    "one, best, high, found",
    [
        (ends(0.1, 0.4), ends(0.5, 0.9), True, True),
        (ends(0.1, 0.5), ends(0.5, 0.9), True, False),
        (ends(0.1, 0.6), ends(0.5, 0.9), True, False),
        (ends(6, 9), ends(1, 5), False, True),
        (ends(5, 9), ends(1, 5), False, False),
        (ends(None, None), ends(1, 5), False, False),
        (ends(6, 9), ends(None, None), False, False),
    ],
)
def test_trial_is_worse_only_if_intervals_do_not_overlap(one, best, high, found):
    assert worse(one, best, high) is found
