"""A hostile text of the data, through every writer of a file or table that a person opens."""

import csv
import io
import re

from runner.rating.sheets import Item, load, write_sheets
from runner.results.cells import markdown as markdown_table
from runner.results.metrics import summarise
from runner.results.render.formats import comma, latex, markdown, page
from runner.results.sections import tools
from runner.results.sections.report import report
from runner.results.sheets import Section, Sheet, columns
from runner.results.terminal import show_section
from runner.terminal.command import print_lines, print_note
from tests.acceptance.command import ROOT
from tests.runner.results.sweeps import job

BAD = "=1+1|\x1b]0;x\x07\x9b31m\u202e<img src=x onerror=alert(1)>[x](javascript:a)`**b**`\\end{tabular}\0"
SHEET = Sheet(BAD, columns(BAD, "other"), [[BAD, 0.5], [BAD, None]], notes=[BAD])
SECTION = Section("bad", BAD, BAD, [SHEET])


def assert_harmless(text):
    """No character that a terminal or an editor obeys."""
    assert all(letter.isprintable() or letter == "\n" for letter in text), ascii(text)


def assert_is_not_markup(text):
    assert_harmless(text)
    assert not re.search(r"(?<!\\)(<img|\[x|\*\*b)", text), text


def assert_has_no_formula(text):
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert_harmless("".join(cell for row in rows for cell in row))
    assert any("1+1" in cell for row in rows for cell in row)
    assert not [cell for row in rows for cell in row if cell.lstrip().startswith("=")]


def test_terminal_obeys_nothing(capsys):
    show_section(SECTION)
    print_note(BAD)
    print_lines(BAD, BAD)
    out, err = capsys.readouterr()
    assert_harmless(out + err)


def test_markdown_has_no_markup_of_the_data(tmp_path):
    run = job(tmp_path, [1, 0], "a")
    records = [{**record, "strata": {"kind": BAD}} for record in run.records]
    run.manifest["dataset"] |= {"name": BAD, "split": BAD}
    run.manifest["notes"] = [BAD]
    run.manifest["name"] = BAD
    texts = (
        markdown(BAD, BAD, [BAD], [SECTION]),
        markdown_table([BAD], [[BAD]]),
        report(run.manifest, summarise(records, {}, {}, {}), None),
    )
    for text in texts:
        assert "img src" in text
        assert_is_not_markup(text)


def test_latex_has_no_command_of_the_data():
    text = latex(SHEET)
    assert_harmless(text)
    written = [line for line in text.splitlines() if not line.startswith("% ")]
    assert "".join(written).count("\\end{tabular}") == 1


def test_page_has_no_tag_of_the_data():
    text = page(BAD, BAD, [BAD], [SECTION])
    assert_harmless(text.replace("\t", " "))
    assert "<img" not in text and "&lt;img" in text


def test_tables_have_no_formula(tmp_path, monkeypatch):
    assert_has_no_formula(comma(SHEET))
    share = tools.Share(BAD, BAD, BAD, BAD, 1, 0.5, 0.5, None, None)
    monkeypatch.setattr(tools, "rows", lambda: [None])
    monkeypatch.setattr(tools, "shares_of", lambda _: [share])
    assert_has_no_formula(tools.write_shares([], tmp_path).read_text())


def test_rating_sheets_have_neither(tmp_path):
    rubric = load(ROOT / "conf/rubrics", "agreement")
    write_sheets([Item(job(tmp_path, [1], "a"), "t-0", 1, "t-0", {"answer": BAD})], rubric, tmp_path, 1, 0)
    assert_has_no_formula((tmp_path / "sheets/rater_1.csv").read_text())
    form = (tmp_path / "sheets/rater_1.html").read_text()
    assert_harmless(form)
    assert "<img" not in form and "&lt;img" in form
