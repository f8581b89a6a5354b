"""The page: its structure, and that no text of the data becomes a part of it."""

import base64
import re
from hashlib import sha256

import pytest

from runner.results.render.figures import bars
from runner.results.render.formats import asset, page
from runner.results.sheets import Column, Markup, Plot, Section, Sheet, Value, columns
from tests.browser import needs_browser, opened
from tests.runner.results.page.pages import HOSTILE, parsed
from tests.slow import slow
from tests.table import each_row

SHEET = Sheet(
    f"Table {HOSTILE}",
    [Column("run"), Column("score", "0 to 1", "higher"), Column("cost", "%", "lower")],
    [[HOSTILE, Value(0.5, 0.25, 0.75, 1200), 12.345], ["b", None, 1]],
    [f"below {HOSTILE}"],
)
PLOT = Plot(f"Plot {HOSTILE}", bars([HOSTILE], {HOSTILE: [Value(1.0)]}, HOSTILE, HOSTILE))


@pytest.fixture(scope="module")
def text():
    own = Markup(f"<p id='own'>{'&lt;'}</p>", "window.mine = '</script>';", ".mine { color: red }")
    sections = [Section("first", f"First {HOSTILE}", HOSTILE, [SHEET, PLOT]), Section("second", "Second", "", [own])]
    return page(f"Title {HOSTILE}", f"about {HOSTILE}", [f"warned {HOSTILE}"], sections)


@pytest.fixture(scope="module")
def tree(text):
    return parsed(text)


def test_a_page_has_its_navigation_and_sections(tree):
    assert [link.get("href") for link in tree.xpath("//nav/a")] == ["#first", "#second"]
    assert [one.get("id") for one in tree.xpath("//main/section")] == ["first", "second"]
    assert tree.xpath("//p[@class='warning']")[0].text_content().startswith("warned")


def test_headers_have_units_and_arrows_and_cells_have_sort_keys(tree):
    heads = tree.xpath("//th")
    assert [head.xpath("string(.//small)") for head in heads] == ["", "0 to 1", "%"]
    assert [head.xpath("string(.//*[@class='way'])") for head in heads] == ["", "↑", "↓"]
    assert heads[1].xpath(".//*[@class='way']")[0].get("title") == "higher is better"
    first, second = tree.xpath("//tbody/tr")
    _, score, cost = first.xpath("td")
    assert (score.get("data-v"), score.get("title"), score.xpath("string(small)")) == (
        "0.5",
        "n = 1,200",
        "0.250 to 0.750",
    )
    assert cost.text_content() == "12.35" and second.xpath("td")[1].get("data-v") is None


def test_hostile_texts_are_escaped(tree):
    scripts = tree.xpath("//script[not(@type)]")
    assert len(scripts) == 2 and not tree.xpath("//img") and not any("alert" in one.text for one in scripts)
    assert not any(name.startswith("on") for node in tree.iter() if node.attrib for name in node.attrib)
    assert tree.xpath("//tbody/tr/td")[0].text_content() == HOSTILE
    assert HOSTILE in tree.xpath("//div[@class='plot']//rect/title")[0].text


def test_only_the_pages_own_scripts_may_run_and_nothing_is_fetched(tree):
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    allowed = policy.partition("script-src ")[2].partition(";")[0].split()
    digests = [
        base64.b64encode(sha256(one.text.encode()).digest()).decode() for one in tree.xpath("//script[not(@type)]")
    ]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]
    assert policy.startswith("default-src 'none'") and "connect-src" not in policy and "http" not in policy
    assert not tree.xpath("//@src | //link | //iframe | //object | //form")


def test_a_page_of_a_table_and_a_plot_is_small():
    assert len(page("t", "", [], [Section("a", "A", "", [SHEET, PLOT])])) < 25_000


HEAT = Sheet(
    "Heat", columns("score", "run", "a", "b", "c"),
    [["x ↑", "one", 0.0, Value(1.0, n=3), None], ["x ↑", "two", 0.5, Value(None, link="#episode=a"), 1.0],
     ["steps", "one", 2, 12, None]],
    keys=2, shaded=2,
)  # fmt: skip


def test_a_heat_map_has_values_as_text_and_missing_cells_are_not_zero():
    tree = parsed(page("t", "", [], [Section("a", "A", "", [HEAT])]))
    shades = [[cell.get("class") for cell in row.xpath("td")[2:]] for row in tree.xpath("//tbody/tr")]
    assert shades == [["n h0", "n h10", "n gone"], ["n h5", "n gone", "n h10"], ["n h0", "n h10", "n gone"]]
    first, second, _ = tree.xpath("//tbody/tr")
    assert [cell.text_content() for cell in first.xpath("td")[2:]] == ["0.0000", "1.0000", "-"]
    assert first.xpath("td")[3].get("title") == "n = 3" and second.xpath("td")[3].xpath("a/@href") == ["#episode=a"]
    assert "no value" in tree.xpath("//p[contains(@class, 'scale')]")[0].text_content()


@each_row("theme", ["light", "dark"])
def test_every_shade_is_readable_and_lighter_or_darker_than_the_one_before(theme):
    """Contrast of at least 4.5 to its text (WCAG 2.2, 1.4.3); one way in luminance, so hue is not needed to read it."""
    found = re.findall(
        r"\.h\d+ \{ background: light-dark\((#\w+), (#\w+)\); color: light-dark\((#\w+), (#\w+)\)", asset("page.css")
    )
    shades = [(light, ink) if theme == "light" else (dark, dark_ink) for light, dark, ink, dark_ink in found]
    lights = [luminance(ground) for ground, _ in shades]
    assert len(lights) == 11 and lights == sorted(lights, reverse=theme == "light")
    for ground, ink in shades:
        low, high = sorted((luminance(ground), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ground, ink)


def luminance(colour):
    """Relative luminance of a colour (WCAG)."""
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_boxes_that_scroll_can_be_reached_by_keyboard(tree):
    boxes = tree.xpath("//div[@class='wide']")
    assert boxes and all(box.get("tabindex") == "0" and box.get("aria-label") for box in boxes)


def test_names_may_be_broken_between_their_words_only():
    shown = page(
        "t", "", [], [Section("a", "A", "", [Sheet("x", columns("completion/rate"), [["two_words x-ray &amp"]])])]
    )
    assert "completion/<wbr>rate" in shown and ">two_<wbr>words x-ray &amp;amp<" in shown
    anywhere = [rule for rule in asset("page.css").split("}") if "anywhere" in rule]
    assert len(anywhere) == 1 and not re.search(r"t[dh]", anywhere[0]), "in tables it breaks words where there is room"


def test_a_word_without_end_may_be_broken_in_a_cell():
    shown = page("x" * 64, "", [], [Section("a", "A", "", [Sheet("y" * 64, columns("z" * 64), [["w" * 64]])])])
    assert ">" + "<wbr>".join(["w" * 20, "w" * 20, "w" * 24]) + "<" in shown
    assert all(letter * 64 in shown for letter in "xyz"), "others wrap where they fill their line"


def test_a_long_table_is_cut_and_its_file_is_named():
    rows = [[f"s{n}", n] for n in range(1_234)]
    text = page("t", "", [], [Section("a", "A", "", [Sheet("Long one", columns("sample", "n"), rows)])])
    tree = parsed(text)
    assert len(tree.xpath("//tbody/tr")) == 200
    assert "The first 200 of 1,234 rows; all are in tables/a-long-one.csv." in text


def test_scores_can_be_chosen_and_without_a_script_all_are_there():
    both = Sheet("x of b", columns("run", "x", "y"), [["x", 1, 2], ["x ↑", 1, 2]])
    tree = parsed(page("t", "", [], [Section("a", "A", "", [both])], ["x", "y"]))
    (box,) = tree.xpath("//details[@id='scores']")
    assert box.get("hidden") is not None, "a script shows it"
    assert [(one.get("value"), one.get("checked") is not None) for one in box.xpath(".//input")] == [
        ("x", True), ("y", True),
    ]  # fmt: skip
    assert tree.xpath("//main//*[@data-score]/@data-score") == ["x", "x", "y", "x", "x"], "figure, heads, rows"
    assert not tree.xpath("//main//*[@hidden and @data-score]")
    assert not parsed(page("t", "", [], [Section("a", "A", "", [both])], ["x"])).xpath("//details")


def test_embedded_markup_has_its_script_and_style(tree):
    assert tree.xpath("//p[@id='own']")[0].text == "<" and ".mine" in tree.xpath("//style")[0].text
    assert any("window.mine = '<\\/script>'" in one.text for one in tree.xpath("//script[not(@type)]"))


@slow
@needs_browser
@each_row("width", [400, 1280])
async def test_browser_sorts_chooses_and_never_scrolls_the_page_sideways(width, tmp_path):
    wide = Sheet("Wide", [Column(f"column {n}") for n in range(60)], [[n / 7 for n in range(60)]])
    both = page("t", "x" * 300, ["w" * 300], [Section("a", "A" * 90, "", [SHEET, PLOT, wide, HEAT])], ["score", "x"])
    (tmp_path / "page.html").write_text(both, encoding="utf-8")
    async with opened(tmp_path / "page.html", tmp_path / f"profile-{width}") as tab:
        await tab.size(width, 900)
        assert await tab.run("document.documentElement.scrollWidth") <= width
        inside = "[...document.querySelectorAll('.wide, .plot')].map((box) => box.scrollWidth > box.clientWidth)"
        assert (await tab.run(inside))[:3] == [False, False, True], (
            "a wide table scrolls in its own box, a plot does not"
        )
        seen = await tab.run("[...document.querySelectorAll('svg')].map((one) => one.clientWidth > 0)")
        assert seen == [width > 700, width < 700], "one of the two widths"
        first = "[...document.querySelectorAll('tbody')[0].rows].map((row) => row.cells[2].dataset.v)"
        click = "document.querySelectorAll('thead')[0].rows[0].cells[2].firstChild.click()"
        assert [await tab.run(f"({click}, {first})") for _ in range(2)] == [["1", "12.345"], ["12.345", "1"]]
        score = "document.querySelectorAll('thead')[0].rows[0].cells[1]"
        assert await tab.run(f"({score}.firstChild.click(), {score}.ariaSort)") == "descending", "the best first"
        shown = "[...document.querySelectorAll('thead')[0].rows[0].cells].map((cell) => cell.offsetWidth > 0)"
        assert await tab.run(f"(document.querySelector('#scores input').click(), {shown})") == [True, False, True]
        ground = "getComputedStyle(document.body).backgroundColor"
        assert await tab.run(ground) != await tab.run(f"(document.getElementById('theme').click(), {ground})")
        assert await tab.run("typeof alert === 'function' && !document.querySelector('main img')") and not tab.thrown
