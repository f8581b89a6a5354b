import json
from dataclasses import asdict

import pytest

from components.core.errors import ConfigError
from components.text.words import written_out
from runner.rating.sheets import Key, write_table
from runner.results.cells import spreadsheet_text
from tests.runner.rating.cases import key, table
from tests.slow import slow
from tests.table import each_row

WORDS = ("--n", 6)


@pytest.fixture
def sheets(rated):
    code, out, err = rated.report("annotate", "mine.yaml", rated.one, rated.two, *WORDS, "--out", "rated")
    assert code == 0, err
    assert "raters get what is in sheets/, and not key.json" in out
    return rated.path / "rated" / "ratings" / "mine"


def test_every_rater_gets_all_items_in_a_separate_order(sheets):
    first, second = ([row[0] for row in table(sheets / "sheets" / f"rater_{n}.csv")[1:]] for n in (1, 2))
    assert sorted(first) == sorted(second) == sorted(json.loads((sheets / "key.json").read_text())["items"])
    assert first != second and len(first) == 6
    page = (sheets / "sheets" / "rater_1.html").read_text()
    assert [page.index(f'<article id="{code}"') for code in first] == sorted(
        page.index(f'<article id="{code}"') for code in first
    )


def test_sheet_header_lists_the_allowed_values(sheets):
    assert table(sheets / "sheets" / "rater_1.csv")[0] == [
        "item", "Question", "Answer", "Reference", "cause [one of: facts | logic]",
        "also [one or more, with ; between them, or none, of: late | long]", "note",
    ]  # fmt: skip


def test_raters_are_blind_to_the_method(sheets, rated):
    run = json.loads((rated.one / "manifest.json").read_text())
    for path in (sheets / "sheets").iterdir():
        text = path.read_text()
        assert not [secret for secret in ("hidden", run["id"], "mine.", "asks", "case 2", "patient") if secret in text]
        assert path.name == "rubric.md" or ("[the model]?" in text and "echo" not in text)
    items = json.loads((sheets / "key.json").read_text())["items"]
    assert {item["folder"] for item in items.values()} == {"hidden_one", "hidden_two"}


@slow
def test_sheets_are_deterministic_for_a_draw_and_a_seed(sheets, rated):
    for name, seed in (("again", 0), ("other", 1)):
        rated.report("annotate", "mine.yaml", rated.one, rated.two, *WORDS, "--out", name, "--seed", seed)
    for path in (sheets / "sheets").glob("rater_*"):
        again, other = ((rated.path / name / "ratings" / "mine" / "sheets" / path.name) for name in ("again", "other"))
        assert path.read_bytes() == again.read_bytes() != other.read_bytes()


def test_existing_sheets_are_never_overwritten(sheets, rated):
    code, _, err = rated.report("annotate", "mine.yaml", rated.one, *WORDS, "--out", "rated")
    assert code == 2 and "has sheets already, which may be filled; give --out another folder" in err


def test_no_cell_starts_a_formula(sheets):
    questions = [row[1] for row in table(sheets / "sheets" / "rater_1.csv")[1:]]
    assert all(question.startswith("'=cmd|") for question in questions)


@each_row("text", ["=1+1", "+1", "-1", "@x", "\n-", "  =1", "＝1", "|x", "%x"])
def test_cell_that_could_start_a_formula_gets_an_apostrophe(text):
    assert spreadsheet_text(text) == f"'{text}"
    assert spreadsheet_text(f"\t{text}").lstrip("'") == written_out(f"\t{text}")


@each_row("text", ["", "1=1", "a-b", "'=1", "(3,)"])
def test_other_cells_are_unchanged(text):
    assert spreadsheet_text(text) == text


def test_a_table_holds_any_text_in_one_cell(tmp_path):
    cells = ['a "quote", a; b', "two\nlines", "ü"]
    write_table(tmp_path / "t.csv", ["x", "y", "z"], [cells])
    assert table(tmp_path / "t.csv")[1] == cells and spreadsheet_text("a\0b") == r"a\x00b"


def test_a_key_is_read_as_it_was_written(tmp_path):
    key().write(tmp_path / "key.json")
    found = Key.read(tmp_path / "key.json")
    assert found.items == key().items and asdict(found.rubric) == asdict(key().rubric) | {
        "draw": found.rubric.draw.__dict__
    }
    assert found.set == "abc123" and found.rubric.digest == key().rubric.digest


@pytest.mark.parametrize("text", ["", "[]", '{"rubric": {}, "seed": 0, "items": {"a": {"run": 1}}}', '{"seed": 1}'])
def test_other_file_is_not_accepted_as_a_key(tmp_path, text):
    (tmp_path / "key.json").write_text(text)
    with pytest.raises(ConfigError, match="is not a key of rating sheets"):
        Key.read(tmp_path / "key.json")
