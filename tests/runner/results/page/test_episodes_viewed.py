"""Episodes as a browser shows them."""

import pytest

from runner.results.render.formats import page
from runner.results.sections import episodes
from tests.browser import needs_browser, opened
from tests.runner.results.page.episode_runs import LONG, WRITTEN, hostile_run, two_runs
from tests.slow import slow

READY = "document.querySelector('#episodes-viewer').getAttribute('aria-busy') === 'false'"
OPEN = "document.querySelector('#episodes-dialog[open]')?.getAttribute('aria-busy') === 'false'"
SHOWN = "document.querySelector('#episodes-dialog').textContent"
LISTED = "[...document.querySelectorAll('.grid')[0].querySelectorAll('a')].map((one) => one.getAttribute('aria-label'))"


@pytest.fixture
def runs(tmp_path):
    return two_runs(tmp_path)


@pytest.fixture
def hostile(tmp_path):
    return hostile_run(tmp_path)


@pytest.fixture
def open_page(tmp_path):
    """Opens the page of runs in a browser."""
    (tmp_path / "profile").mkdir()

    def show(runs, fragment=""):
        path = tmp_path / "page.html"
        path.write_text(page("title", "about", [], [episodes.section(runs)]))
        return opened(path, tmp_path / "profile", fragment)

    return show


@slow
@needs_browser
async def test_the_list_is_searched_sorted_and_read_by_keyboard(runs, open_page):
    async with open_page(runs) as tab:
        await tab.until(READY)
        assert await tab.run(LISTED) == ["a/1", "b-2", "c-3", "d-4", "e-5"] * 2
        for label, value, left in (
            ("End", "any failure", ["b-2", "c-3", "e-5"]), ("End", "failed: lost", ["b-2"]),
            ("Result", "not solved", ["b-2", "c-3", "d-4", "e-5"]), ("Stratum", "d", ["d-4"] * 2),
        ):  # fmt: skip
            await tab.run(_choose(label, value))
            assert await tab.run(LISTED) == left, (label, value)
            await tab.run(_choose(label, "all"))
        await tab.run(_type("toolMISSING d-4"))
        assert await tab.run(LISTED) == ["d-4"], "words are searched in questions and answers"
        await tab.run(_type(""))
        await tab.run(
            "[...document.querySelectorAll('.grid th button')].find((one) => one.textContent === 'calls').click()"
        )
        assert (await tab.run(LISTED))[:3] == ["b-2", "b-2", "c-3"], "the most calls first"
        await tab.run("document.querySelector('.grid a').click()")
        await tab.until(OPEN)
        assert await tab.run("location.hash") == "#episode=one/b-2/0"
        await tab.press("j")
        await tab.until("location.hash === '#episode=two%2Bcfg/b-2/0'")
        await tab.press("k")
        await tab.until("location.hash === '#episode=one/b-2/0'")
        await tab.press("Escape")
        await tab.until("!document.querySelector('#episodes-dialog').open && location.hash === '#episodes'")
        await tab.run("history.back()")
        await tab.until(OPEN)
        assert not tab.thrown


@slow
@needs_browser
async def test_link_opens_a_complete_episode(runs, open_page):
    async with open_page(runs, "#episode=one/a%2F1/0") as tab:
        await tab.until(OPEN)
        page_text = await tab.run(SHOWN)
        for text in ("a/1", "What is a/1?", "3 tools offered", "2 steps", "I call Books.", "page of Books", "End: answered",
            "In a terminal", "python -m runner.report episode a/1 ",
                     "score/x", "read it", "10 + 5 tokens, $0.500"):  # fmt: skip
            assert text in page_text, text
        assert "Rules of the house" not in page_text, "the request is collapsed"
        await tab.run("document.querySelectorAll('#episodes-dialog details').forEach((one) => { one.open = true; })")
        await tab.until(f"{SHOWN}.includes('Rules of the house')")
        assert "Query" in await tab.run(SHOWN), "offered tools are listed"
        await tab.run("location.hash = '#episode=one/nobody/0'")
        await tab.until(f"{SHOWN}.includes('no such episode')")
        await tab.run("location.hash = '#episode=%E0%A4%A/x/0'")
        await tab.until(f"{SHOWN}.includes('no such episode')")
        assert not tab.thrown


@slow
@needs_browser
async def test_two_runs_are_aligned_up_to_their_first_difference(runs, open_page):
    async with open_page(runs) as tab:
        await tab.until(READY)
        await tab.run("document.querySelector('.pairs').open = true")
        await tab.until("document.querySelector('.pairs tbody a')")
        rows = "[...document.querySelectorAll('.pairs tbody tr:not(.space)')].map((row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent))"
        assert await tab.run(rows) == [
            ["a/1", "none", "", "they go the same way"],
            ["b-2", "2", "act", "called, observed"],
            ["c-3", "2", "act", "said, called, observed"],
            ["d-4", "2", "end", "how it ends"],
            ["e-5", "2", "act", "said"],
        ]
        await tab.run("document.querySelectorAll('.pairs tbody a')[1].click()")
        await tab.until(OPEN)
        assert await tab.run("location.hash") == "#episode=one/b-2/0&with=two%2Bcfg"
        assert (
            await tab.run("document.querySelector('.parted').textContent")
            == "First difference: step 2 (act): called, observed"
        )
        order = "[...document.querySelectorAll('.both .step .purpose, .both .parted')].map((one) => one.className)"
        assert await tab.run(order) == ["purpose", "purpose", "parted", *["purpose"] * 4], (
            "a pair, the mark, the rest of each"
        )
        await tab.press("k")
        await tab.until("document.querySelector('.parted.same')")
        await tab.run(_choose("What counts", "every word asked and said, too", "#episodes-dialog"))
        await tab.until("document.querySelector('.parted.same')?.textContent === 'Both go the same way to the end.'")
        assert not tab.thrown


@slow
@needs_browser
async def test_hostile_texts_are_shown_and_not_interpreted(hostile, open_page):
    async with open_page([hostile]) as tab:
        await tab.until(READY)
        assert await tab.run(LISTED) == [WRITTEN]
        await tab.run("document.querySelector('.grid a').click()")
        await tab.until(OPEN)
        await tab.run(
            "for (let n = 0; n < 3; n += 1) document.querySelectorAll('#episodes-dialog details').forEach((one) => { one.open = true; })"
        )
        await tab.until("document.querySelectorAll('#episodes-dialog details details').length > 0")
        page_text = await tab.run(SHOWN)
        assert page_text.count(WRITTEN) >= 6 and LONG not in page_text
        await tab.run("document.querySelector('#episodes-dialog .answer + .more').click()")
        assert LONG.strip() in await tab.run(SHOWN), "the rest of a long text is shown on demand"
        assert await tab.run("document.title") == "title"
        assert (
            await tab.run("document.querySelectorAll('#episodes-viewer img, #episodes-viewer b:not(.step b)').length")
            == 0
        )
        assert not tab.thrown


def _choose(label, text, inside="#episodes-viewer"):
    """Choose an option by its text, as a user does."""
    return f"""(() => {{
      const field = [...document.querySelectorAll('{inside} label')].find((one) => one.firstChild.textContent === '{label}');
      const select = field.querySelector('select');
      select.selectedIndex = [...select.options].findIndex((one) => one.textContent === '{text}');
      select.dispatchEvent(new Event('change'));
    }})()"""


def _type(text):
    return f"""(() => {{
      const input = document.querySelector('#episodes-viewer input[type=search]');
      input.value = '{text}';
      input.dispatchEvent(new Event('input'));
    }})()"""
