import pytest

from components.core.errors import ConfigError
from runner.rating.sheets import read_sheets
from tests.runner.rating.cases import key
from tests.table import each_row

HEAD = "item,Question,cause [one of: facts | logic],also,note\n"
GOOD = HEAD + (
    'abc123-002,"a text\nof two lines",logic,none,\nabc123-001,=x,Facts,late; long,"=1"\n\n'
    "abc123-003,,facts,long,\nabc123-004,,logic,late,\n"
)


@pytest.fixture
def sheet(tmp_path):
    def write(text, name="rater_1.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def test_filled_sheet_is_read_in_any_order(sheet):
    (found,) = read_sheets([sheet(GOOD)], key())
    assert found.rater == "rater_1"
    assert found.picked["abc123-001"] == {"cause": ("facts",), "also": ("late", "long")}
    assert found.picked["abc123-002"] == {"cause": ("logic",), "also": ()}


@pytest.mark.parametrize(
    ("change", "encoding"),
    [
        ((",", ";"), "utf-8"),
        ((",", "\t"), "utf-8-sig"),
        (("\n", "\r\n"), "utf-8"),
        (("late; long", "'late|long"), "utf-8"),
    ],
)
def test_sheet_saved_by_spreadsheet_programs_is_read(sheet, change, encoding):
    text = GOOD.replace("late; long", "late | long") if change[0] == "," else GOOD
    (found,) = read_sheets([sheet(text.replace(*change), encoding=encoding)], key())
    assert found.picked["abc123-001"]["also"] == ("late", "long")


def test_the_texts_may_be_left_out(sheet):
    rows = "".join(f"abc123-00{i},facts,none\n" for i in range(1, 5))
    (found,) = read_sheets([sheet("item,cause,also\n" + rows)], key())
    assert len(found.picked) == 4


@each_row(
    "change, wrong",
    [
        (
            ("abc123-003", "abc123-009"),
            "rater_1.csv:6: item 'abc123-009' is not in these sheets; did you mean abc123-00",
        ),
        (("abc123-003", "abc123-001"), "rater_1.csv:6: item 'abc123-001' is duplicated"),
        ((",facts,long", ",,long"), "rater_1.csv:6: cause of item abc123-003 has no value; valid: facts, logic"),
        (
            (",Facts,", ",fact,"),
            "rater_1.csv:4: cause of item abc123-001 has 'fact', which is not allowed; valid: facts",
        ),
        ((",facts,long", ""), "rater_1.csv:6: cause of item abc123-003 has no value"),
        (("abc123-004,,logic,late,\n", ""), "rater_1.csv:6: 1 items are missing: abc123-004"),
        (("also", "too"), "rater_1.csv:1: the column 'also' is missing; a sheet has item, cause, also"),
        (("note", "also"), "rater_1.csv:1: the column 'also' is duplicated"),
        (('of two lines"', "of two lines"), "rater_1.csv:2: not a CSV"),
    ],
)
def test_error_is_reported_with_file_line_and_valid_values(sheet, change, wrong):
    with pytest.raises(ConfigError, match=wrong):
        read_sheets([sheet(GOOD.replace(*change))], key())


def test_all_errors_are_reported_together_up_to_a_limit(sheet):
    bad = HEAD + "".join(f"abc123-00{i},,no,late,\n" for i in range(1, 5))
    with pytest.raises(ConfigError) as caught:
        read_sheets([sheet(bad), sheet(bad, "b.csv"), sheet(bad, "c.csv"), sheet(bad, "d.csv")], key())
    lines = str(caught.value).splitlines()
    assert len(lines) == 13 and "b.csv:2:" in lines[4] and lines[-1] == "and 4 more"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "utf-16"])
def test_sheet_in_a_legacy_encoding_is_read(sheet, encoding):
    (found,) = read_sheets([sheet(GOOD.replace("a text", "Größe"), encoding=encoding)], key())
    assert found.picked["abc123-001"]["also"] == ("late", "long")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32"])
def test_binary_file_is_refused(sheet, encoding):
    with pytest.raises(ConfigError, match="save it as CSV in UTF-8"):
        read_sheets([sheet(GOOD, encoding=encoding)], key())


def test_missing_sheet_is_refused_by_its_name(tmp_path):
    with pytest.raises(ConfigError, match=r"no sheet .*rater_2\.csv; give the files that the raters returned"):
        read_sheets([tmp_path / "rater_2.csv"], key())


def test_the_same_sheet_twice_is_refused(sheet):
    with pytest.raises(ConfigError, match="given twice"):
        read_sheets([sheet(GOOD), sheet(GOOD)], key())


def test_sheets_of_the_same_name_are_distinguished_by_folder(sheet, tmp_path):
    (tmp_path / "b").mkdir()
    found = read_sheets([sheet(GOOD), sheet(GOOD, "b/rater_1.csv")], key())
    assert len({one.rater for one in found}) == 2
