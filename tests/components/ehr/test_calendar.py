import pytest

from components.ehr.errors import EhrError
from components.ehr.interpreters import calendar
from tests.components.ehr.ward import CLOCK
from tests.table import each_row


@each_row(
    "duration, time",
    [
        ("0 year", CLOCK), ("-1 year", "2104-12-31 23:59:00"), ("+1 years", "2106-12-31 23:59:00"), ("-1 month", "2105-12-01 23:59:00"),
        ("-10 months", "2105-03-03 23:59:00"), ("3 day", "2106-01-03 23:59:00"), ("-36hours", "2105-12-30 11:59:00"), (" -90 Minutes ", "2105-12-31 22:29:00"),
        ("+61 second", "2106-01-01 00:00:01"), ("1.5 day", "2106-01-02 11:59:00"), ("start of year", "2105-01-01 00:00:00"),
        ("start of  month", "2105-12-01 00:00:00"), ("start of day", "2105-12-31 00:00:00"), ("start of month, -1 month", "2105-11-01 00:00:00"),
        ("-1 month, start of month", "2105-12-01 00:00:00"), ("-1 year,-1 year", "2103-12-31 23:59:00"),
    ],
)  # fmt: skip
def test_the_clock_is_moved_as_sqlite_moves_it(duration, time):
    assert calendar(duration, CLOCK) == time


@each_row(
    "duration",
    [
        "", "last year", "year", "-1", "-1 week", "- 1 year", "-1 year,", "1 year 2 months", "now", "weekday 0", "start of hour", "unixepoch",
        "'-1 year'", "-1 year') -- ", "0 year'); DROP TABLE beds", "-9000 years", "9999 years", "1e3 days", "٣ day", "1" * 20 + " day", "1 day," * 100, None, 3,
    ],
)  # fmt: skip
def test_other_durations_are_refused(duration):
    with pytest.raises(EhrError, match="The duration `") as caught:
        calendar(duration, CLOCK)
    assert caught.value.kind == "bad_duration" and len(str(caught.value)) < 700


def test_a_database_without_a_clock_has_no_current_time():
    with pytest.raises(EhrError, match="no present time") as caught:
        calendar("-1 year", None)
    assert caught.value.kind == "bad_duration"
