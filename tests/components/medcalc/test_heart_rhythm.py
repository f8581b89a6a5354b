import pytest

from components.medcalc.registry import CALCULATORS

NAMES = ["qtc_bazett", "qtc_fridericia", "qtc_framingham", "qtc_hodges", "qtc_rautaharju"]


@pytest.mark.parametrize("name", NAMES)
def test_at_sixty_beats_the_interval_stays(name):
    assert CALCULATORS[name](qt=400, heart_rate=60) == pytest.approx(400)


@pytest.mark.parametrize(
    "name,qt,heart_rate,expected",
    [
        ("qtc_bazett", 200, 240, 400),
        ("qtc_fridericia", 300, 60 / 0.216, 500),
        ("qtc_framingham", 400, 120, 477),
        ("qtc_hodges", 400, 100, 470),
        ("qtc_rautaharju", 300, 150, 450),
    ],
)
def test_faster_hearts_are_corrected(name, qt, heart_rate, expected):
    assert CALCULATORS[name](qt=qt, heart_rate=heart_rate) == pytest.approx(expected)
