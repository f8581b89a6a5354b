"""Pages of hostile runs in a browser, narrow and wide: nothing is cut, and only tables scroll sideways."""

import pytest

from runner.results.render.figures import Mark, Series, bars, intervals, scatter
from runner.results.render.formats import page
from runner.results.sections import page as book
from runner.results.sheets import Plot, Section, Value
from tests.browser import needs_browser, opened
from tests.runner.results.page.pages import grid, made
from tests.slow import slow

LONG = [(word * 8)[:64] for word in ("neuroradiology", "haematopathology", "microbiome")]
OUT = """[...document.querySelectorAll('svg')].filter((one) => one.clientWidth).flatMap((one) => {
  const {left, right, top, bottom} = one.getBoundingClientRect();
  return [...one.querySelectorAll('text')].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
  }).map((text) => text.textContent);
})"""
SCROLLED = """[...document.querySelectorAll('.wide')].filter((box) => box.scrollWidth > box.clientWidth
  && box.querySelector('.map')).map((box) => box.ariaLabel)"""


def long_names(home):
    """A sweep over agents and conditions with names of 64 letters."""
    values = {(agent, condition): [1, 0, 1, 0] for agent in LONG for condition in LONG[:2]}
    return book.write(grid(home, values, agents=LONG, conditions=LONG[:2]), home / LONG[0])[0]


def many_strata(home):
    """Runs on samples of sixty tasks."""
    scored = {f"task_{n} of many": ("k", [n % 2, 1, 0, 1, 0]) for n in range(60)}
    return book.write([made(home / name, scored, choices={"agent": name}) for name in ("react", "cot")], home)[0]


def long_plots(home):
    """Plots whose titles, names and labels have 64 letters, at all ends of the plot."""
    values = [Value(n / 3, n / 4, n / 2, 9) for n in range(3)]
    marks = [Mark(n, value, label=name) for n, (value, name) in enumerate(zip(values, LONG, strict=True))]
    plots = [
        intervals(LONG, values, LONG[2]), bars(LONG, dict.fromkeys(LONG, values), LONG[2], LONG[2]),
        scatter([Series(name, marks) for name in LONG], LONG[2], LONG[2]),
    ]  # fmt: skip
    parts = [Plot(LONG[n], plot) for n, plot in enumerate(plots)]
    (home / "page.html").write_text(page(LONG[0], LONG[1], LONG, [Section("a", LONG[2], LONG[2], parts)], LONG))
    return home / "page.html"


@slow
@needs_browser
@pytest.mark.parametrize("write", [long_names, many_strata, long_plots], ids=lambda write: write.__name__)
async def test_browser_cuts_nothing_and_scrolls_only_tables(write, tmp_path):
    async with opened(write(tmp_path), tmp_path / "profile") as tab:
        await tab.run("document.getElementById('scores')?.setAttribute('open', '')")
        for width in (400, 1600):
            await tab.size(width, 900)
            root = "document.documentElement"
            assert await tab.run(f"{root}.scrollWidth <= {root}.clientWidth"), f"the page scrolls at {width} pixels"
            assert not await tab.run(OUT), f"cut at {width} pixels"
        assert not await tab.run(SCROLLED), "heat maps have room at 1600 pixels"


@slow
@needs_browser
async def test_heat_maps_of_six_runs_fit_a_narrow_page(tmp_path):
    names = ("react", "radagent", "chain of thought", "reflectool", "medagents", "direct")
    scored = {f"anatomy-{n}/013": ("k", [n % 2, 1, 0]) for n in range(8)}
    runs = [made(tmp_path / name, scored, choices={"agent": name}) for name in names]
    async with opened(book.write(runs, tmp_path)[0], tmp_path / "profile") as tab:
        await tab.size(400, 900)
        assert await tab.run("document.querySelectorAll('#samples .map th').length") == 8
        assert not await tab.run(SCROLLED)
