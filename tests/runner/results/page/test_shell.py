"""The page: its structure, and that no text of the data becomes a part of it."""

import base64
import json
from hashlib import sha256

import pytest

from runner.results.render.formats import page
from runner.results.sheets import Column, Markup, Plot, Section, Sheet, Value
from tests.browser import needs_browser, opened
from tests.runner.results.page.pages import HOSTILE, parsed
from tests.slow import slow

SHEET = Sheet(
    f"Table {HOSTILE}",
    [Column("run"), Column("score", "0 to 1", "higher"), Column("cost", "%", "lower")],
    [[HOSTILE, Value(0.5, 0.25, 0.75, 1200), 12.345], ["b", None, 1]],
    [f"below {HOSTILE}"],
)
PLOT = Plot(f"Plot {HOSTILE}", {"data": [{"type": "bar", "x": [HOSTILE], "y": [1]}], "layout": {"height": 300}})


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
    assert len(scripts) == 3 and not tree.xpath("//img") and not any("alert" in one.text for one in scripts)
    assert not any(name.startswith("on") for node in tree.iter() if node.attrib for name in node.attrib)
    assert tree.xpath("//tbody/tr/td")[0].text_content() == HOSTILE
    (data,) = tree.xpath("//script[@type='application/json']")
    assert json.loads(data.text)["data"][0]["x"] == [HOSTILE] and "<" not in data.text
    assert tree.xpath("//div[@class='plot']")[0].get("data-of") == data.get("id")


def test_only_the_pages_own_scripts_may_run_and_nothing_is_fetched(tree):
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    allowed = policy.partition("script-src ")[2].partition(";")[0].split()
    digests = [
        base64.b64encode(sha256(one.text.encode()).digest()).decode() for one in tree.xpath("//script[not(@type)]")
    ]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]
    assert policy.startswith("default-src 'none'") and "connect-src" not in policy and "http" not in policy
    assert not tree.xpath("//@src | //link | //iframe | //object | //form")


def test_plotly_is_there_once_and_only_for_plots(text):
    assert text.count("plotly.js v") == 1
    assert len(page("t", "", [], [Section("a", "A", "", [SHEET])])) < 30_000


def test_embedded_markup_has_its_script_and_style(tree):
    assert tree.xpath("//p[@id='own']")[0].text == "<" and ".mine" in tree.xpath("//style")[0].text
    assert any("window.mine = '<\\/script>'" in one.text for one in tree.xpath("//script[not(@type)]"))


@slow
@needs_browser
async def test_browser_sorts_and_draws_without_horizontal_scrolling(text, tmp_path):
    wide = Sheet("Wide", [Column(f"column {n}") for n in range(60)], [[n / 7 for n in range(60)]])
    both = page("t", "", [], [Section("a", "A", "", [SHEET, PLOT, wide])])
    (tmp_path / "page.html").write_text(both, encoding="utf-8")
    async with opened(tmp_path / "page.html", tmp_path / "profile") as tab:
        await tab.until("document.querySelector('.plot .main-svg') !== null")
        assert await tab.run("document.documentElement.scrollWidth") <= 1280
        first = "[...document.querySelectorAll('tbody')[0].rows].map((row) => row.cells[2].dataset.v)"
        click = "document.querySelectorAll('thead')[0].rows[0].cells[2].firstChild.click()"
        assert [await tab.run(f"({click}, {first})") for _ in range(2)] == [["1", "12.345"], ["12.345", "1"]]
        score = "document.querySelectorAll('thead')[0].rows[0].cells[1]"
        assert await tab.run(f"({score}.firstChild.click(), {score}.ariaSort)") == "descending", "the best first"
        ground = "getComputedStyle(document.body).backgroundColor"
        assert await tab.run(ground) != await tab.run(f"(document.getElementById('theme').click(), {ground})")
        assert await tab.run("typeof alert === 'function' && !document.querySelector('main img')") and not tab.thrown
