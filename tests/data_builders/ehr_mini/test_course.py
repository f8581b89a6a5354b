"""Patients and stays are in temporal order, and draws stay within their bounds."""

from datetime import datetime, timedelta
from random import Random

import pytest

from data_builders.ehr_mini import course
from data_builders.ehr_mini.course import CLOCK, FIRST_DAY, Span

PERSONS = [course.person(Random(f"test/{number}"), number) for number in range(400)]
SPAN = Span(datetime(2101, 3, 1, 8, 30), datetime(2101, 3, 4, 17, 5))


def test_stays_do_not_overlap_and_lie_between_the_first_day_and_now():
    for who in PERSONS:
        assert 1 <= len(who.stays) <= 3
        edges = [time for stay in who.stays for time in (stay.start, stay.until)]
        assert edges == sorted(edges) and len(set(edges)) == len(edges)
        assert edges[0] >= FIRST_DAY and edges[-1] <= CLOCK
        assert all(stay.end is not None for stay in who.stays[:-1])


def test_about_a_tenth_is_still_in_hospital_and_alive():
    here = [who for who in PERSONS if who.stays[-1].end is None]
    assert len(here) == len(PERSONS) // 8
    assert not any(who.death for who in here)


def test_death_comes_after_the_last_discharge():
    dead = [who for who in PERSONS if who.death]
    assert 0.1 < len(dead) / len(PERSONS) < 0.4
    assert all(who.stays[-1].end < who.death < CLOCK for who in dead)


def test_no_stay_lasts_an_exact_number_of_days():
    assert not any((stay.until - stay.start).seconds == 0 for who in PERSONS for stay in who.stays if stay.end)


def test_age_is_in_whole_years():
    who = course.Person(0, "f", datetime(2050, 6, 15), None, ())
    assert [who.age(datetime(2100, 6, day)) for day in (14, 15)] == [49, 50]
    assert all(18 <= one.age(stay.start) <= 95 for one in PERSONS for stay in one.stays)


def test_times_are_whole_minutes_within_their_span():
    rng = Random(1)
    times = [course.within(rng, SPAN) for _ in range(300)]
    assert all(SPAN.start <= time <= SPAN.end and time.second == time.microsecond == 0 for time in times)
    early = [course.within(rng, SPAN, 24) for _ in range(300)]
    assert max(early) <= SPAN.start + timedelta(hours=24)


def test_sub_span_starts_later_and_ends_no_later_than_its_span():
    rng = Random(1)
    parts = [course.part_of(rng, SPAN) for _ in range(100)]
    assert all(SPAN.start < part.start < part.end <= SPAN.end for part in parts)
    assert course.part_of(rng, Span(SPAN.start, None)).end is None


def test_costs_and_volumes_are_multiples_of_a_quarter():
    rng = Random(1)
    drawn = [*(course.volume(rng) for _ in range(200)), *(course.price(rng, "lab", "sodium") for _ in range(200))]
    assert all(value > 0 and (value * 4).is_integer() for value in drawn)
    assert len({course.price(rng, "lab", "sodium") for _ in range(50)}) == 3


def test_one_value_in_twenty_is_missing():
    rng = Random(1)
    assert 0.03 < sum(course.maybe(rng, 1) is None for _ in range(4000)) / 4000 < 0.07


@pytest.mark.parametrize("n_items", [3, 5, 6, 14, 16, 18, 19, 38, 52, 84, 93])
def test_every_item_can_be_drawn_and_several_draws_are_distinct(n_items):
    rng, items = Random(1), list(range(n_items))
    assert {course.common(rng, items) for _ in range(20_000)} == set(items)
    drawn = course.several(rng, items, 2, 3)
    assert len(set(drawn)) == len(drawn) in (2, 3)


def test_rows_are_numbered_from_one():
    tables = course.Tables()
    assert [tables.add("t", "key", {"a": n}) for n in "xy"] == [1, 2]
    assert tables["t"] == [{"key": 1, "a": "x"}, {"key": 2, "a": "y"}]
    assert course.written(None) is None and course.written(SPAN.start) == "2101-03-01 08:30:00"
