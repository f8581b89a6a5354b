"""Markdown, CSV and LaTeX agree with the page."""

import csv
import io

from runner.results.render.formats import comma, latex, markdown, sheets, tex
from runner.results.sheets import Column, Markup, Plot, Section, Sheet, Value
from tests.runner.results.page.pages import HOSTILE
from tests.table import each_row

SHEET = Sheet(
    "By task & more",
    [Column("run"), Column("score", "", "higher"), Column("tokens", "n", "lower")],
    [["a_b", Value(0.5, 0.25, 0.75, 8), 12000], [HOSTILE, None, None]],
    ["below"],
)
SECTION = Section(
    "strata", "Strata", "Intro.", [SHEET, Plot("p", {}), Markup("<b>x</b>", instead="see the page"), SHEET]
)


def test_markdown_has_tables_directions_and_intervals():
    text = markdown("T", "about", ["a warning"], [SECTION])
    assert "# T\n\nabout\n\n**a warning**\n\n## Strata\n\nIntro." in text
    assert "| run | score ↑ | tokens (n) ↓ |" in text and "| a_b | 0.5000 (0.250 to 0.750, n = 8) | 12,000 |" in text
    assert "see the page" in text and "<b>" not in text and "<script>" not in text.replace("\\<", "")
    assert len({line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_csv_has_full_numbers_and_columns_for_intervals():
    head, first, second = csv.reader(io.StringIO(comma(SHEET)))
    assert head == ["run", "score", "score low", "score high", "score n", "tokens [n]"]
    assert first == ["a_b", "0.5", "0.25", "0.75", "8", "12000"] and second == [HOSTILE, "", "", "", "", ""]


@each_row("text", ["=1+1", "+1", "@x", "-2+3"])
def test_csv_texts_are_not_formulas(text):
    assert comma(Sheet("t", [Column("a")], [[text], ["-"]])).splitlines()[1:] == [f"'{text}", "-"]


def test_latex_has_rules_subscripts_and_escapes():
    lines = latex(SHEET).splitlines()
    assert lines[:3] == ["% By task & more", r"\begin{tabular}{lrr}", r"\toprule"]
    assert lines[3] == r"run & score $\uparrow$ & tokens (n) $\downarrow$ \\"
    assert lines[5] == r"a\_b & $0.5000_{\,0.250\,\mathrm{to}\,0.750{,} n = 8}$ & $12{,}000$ \\"
    assert lines[6].endswith("& -- & -- \\\\") and lines[-3:] == [r"\bottomrule", r"\end{tabular}", "% below"]


def test_latex_escapes_hostile_texts():
    assert tex("\\input{x} $_%&#~^ <|\n>") == (
        r"\textbackslash{}input\{x\} \$\_\%\&\#\textasciitilde{}\textasciicircum{} \textless{}\textbar{} \textgreater{}"
    )


def test_latex_cell_is_not_an_option_of_the_previous_line():
    assert [tex("[2cm]"), tex("*a")] == ["{[}2cm]", "{*}a"]


def test_files_have_distinct_names():
    assert [name for name, _ in sheets([SECTION])] == ["strata-by-task-more", "strata-by-task-more-2"]
