"""Plots: where points are, what they say, and that no text becomes markup."""

import pytest
from lxml import html

from runner.results.render.figures import Mark, Series, bars, intervals, scatter, sides
from runner.results.sheets import Plot, Value
from tests.runner.results.page.pages import BROAD, HOSTILE, tips, written_on
from tests.table import each_row

KNOWN, BARE = Value(0.5, 0.4, 0.8, 10), Value(0.25)
POINTS = [Mark(1, KNOWN, "a", "named"), Mark(10, BARE, "b")]


def drawn(svg, path):
    """What a path finds in a broad plot."""
    return html.fragment_fromstring(svg).xpath(f"{BROAD}{path}")


@each_row(
    "svg",
    [
        intervals([HOSTILE], [KNOWN], HOSTILE),
        bars([HOSTILE], {HOSTILE: [KNOWN], "b": [BARE]}, HOSTILE, HOSTILE),
        scatter([Series(HOSTILE, [Mark(HOSTILE, KNOWN, HOSTILE, HOSTILE)]), Series("b", [])], HOSTILE, HOSTILE),
    ],
)
def test_texts_of_the_data_are_no_markup(svg):
    assert not drawn(svg, "//script | //img | //@onerror")
    assert any(HOSTILE in tip for tip in tips(Plot("", svg)))


def test_a_point_says_its_value_interval_and_number():
    assert tips(Plot("", intervals(["a", "b"], [KNOWN, BARE], "score"))) == [
        "a: 0.5 (0.400 to 0.800), n = 10",
        "b: 0.25",
    ]
    assert tips(Plot("", scatter([Series("one", POINTS)], "x", "y")))[0] == "a: 1, 0.5 (0.400 to 0.800), n = 10"


def test_points_of_the_first_series_are_drawn_above_those_of_others():
    series = [Series(name, [Mark(1, BARE)]) for name in ("on the front", "beaten")]
    assert tips(Plot("", scatter(series, "x", "y"))) == ["beaten: 1, 0.25", "on the front: 1, 0.25"]


def test_a_bar_or_point_without_a_value_is_not_drawn():
    assert len(tips(Plot("", bars(["x", "y"], {"a": [KNOWN, None], "b": [BARE, KNOWN]}, "score", "task")))) == 3
    assert tips(Plot("", scatter([Series("a", [Mark(1, Value(None))])], "x", "y"))) == []


def test_an_interval_is_drawn_only_where_it_is_known():
    few = Value(0.5, 0.1, 0.9, 3)
    assert len(drawn(intervals(["a", "b", "c"], [KNOWN, BARE, few], ""), "//*[@class='spread']")) == 1


def test_a_logarithmic_axis_has_equal_steps_for_equal_ratios():
    series = [Series("a", [Mark(n, BARE) for n in (1, 10, 100)])]
    xs = [float(x) for x in drawn(scatter(series, "x", "y", logarithmic=True), "//circle/@cx")]
    assert xs[2] - xs[1] == pytest.approx(xs[1] - xs[0])


def test_axes_have_round_numbers_and_names_are_in_their_order():
    assert {"0", "0.2", "0.4", "0.6"} <= {*written_on(Plot("", bars(["x"], {"a": [KNOWN]}, "score", "task")))}
    names = written_on(Plot("", scatter([Series("a", [Mark(name, BARE) for name in "zay"])], "x", "how much")))
    assert [name for name in names if name in {"z", "a", "y"}] == ["z", "a", "y"]


def test_many_long_names_are_turned_and_cut_with_the_whole_as_a_tooltip():
    long = [f"{n} {'long ' * 20}" for n in range(9)]
    assert drawn(bars(long, {"a": [KNOWN] * 9}, "", ""), "//g[contains(@transform, 'rotate(-45)')]/text/title")


def test_titles_of_axes_are_whole_texts_of_the_page():
    for svg, titles in (
        (intervals(["a"], [KNOWN], "x" * 99), ["x" * 99]),
        (bars(["a"], {"a": [KNOWN]}, "y" * 99, "x" * 99), ["y" * 99, "x" * 99]),
        (scatter([Series("a", POINTS)], "x" * 99, "y" * 99), ["y" * 99, "x" * 99]),
    ):
        assert html.fragment_fromstring(svg).xpath("p[@class='axis']/text()") == titles, "above and below the plot"


def test_point_labels_do_not_overlap():
    assert sides(["one"], [(300, 90)], 400) == ["top right"]
    assert sides(["last"], [(360, 90)], 400) == ["top right"], "the margin has room for a short name"
    assert sides(["a name that is too long for it"], [(360, 90)], 400) == ["top left"]
    assert sides(["left one", "right one"], [(200, 90), (220, 90)], 400) == ["top right", "bottom right"]
    assert len(set(sides(["same"] * 4, [(200, 90)] * 4, 400))) == 4


def test_every_width_has_the_same_points_and_one_legend():
    series = [Series("one", POINTS), Series("two", POINTS)]
    root = html.fragment_fromstring(scatter(series, "x", "y"))
    broad, narrow = (one.xpath(".//circle/title/text()") for one in root.xpath("svg"))
    assert broad == narrow and len(broad) == 4 and root.xpath("p/span/text()") == ["one", "two"]
    wide = [int(one.get("viewbox").split()[2]) for one in root.xpath("svg")]
    assert wide == [850, 400], "of the narrow one, a letter of 13 pixels has 11 on a page of 400"
