"""Custom questions in a file with named columns."""

import json
import re

import pytest

from components.core.errors import ConfigError
from components.datasets.table import Columns, Table
from tests.table import each_row

CSV = """id,ask,a,b,c,right,part,patient
q1,Which vitamin?,B12,C,,B,test,p1
q2,"Which bone, please?",Ulna,Rib,Toe,ulna.,test,p1
q3,Which sign?,Rash,Pain,,a,train,p2
"""
NAMED = Columns("ask", "right", ("a", "b", "c"), id="id", split="part", cluster="patient", strata=("part",))


@pytest.fixture
def table(tmp_path):
    def made(text=CSV, name="mine.csv", **changes):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return Table(str(tmp_path / name), **{"split": "test", "columns": NAMED} | changes)

    return made


def test_rows_of_a_split_become_questions_with_their_options(table):
    first, second = table().load("test")
    assert (first.problem.id, first.problem.question) == ("q1", "Which vitamin?")
    assert first.problem.choices == {"A": "B12", "B": "C"} and first.target == "B"
    assert second.target == "A" and second.cluster == "p1" and second.strata == {"part": "test"}
    assert table().splits == ("test", "train")


def test_json_lines_may_hold_options_as_a_list_and_numbers(table):
    rows = [{"question": "How many?", "answer": 2, "options": ["1", "2"]}]
    made = table("\n".join(map(json.dumps, rows)), "mine.jsonl", split="all", columns=Columns(options="options"))
    (sample,) = made.load("all")
    assert sample.target == "B" and sample.problem.id == "row-1"


def test_questions_are_decided_or_open_where_there_are_no_options(table):
    text = "question,answer,why\nIs it?,yes,because\n"
    (decided,) = table(text, split="all", columns=Columns(explanation="why"), decisions=("yes", "no")).load("all")
    assert decided.target == "yes" and decided.metadata == {"decisions": ["yes", "no"], "explanation": "because"}
    (free,) = table(text, split="all", columns=Columns()).load("all")
    assert free.target == "yes" and free.metadata == {} and not free.problem.choices


def test_columns_without_a_name_at_the_end_do_not_matter(table):
    assert len(list(table("".join(f"{line},,\n" for line in CSV.splitlines())).load("test"))) == 2


def test_long_cells_are_read_and_cells_that_are_missing_at_the_end_are_empty(table):
    text = CSV.replace("Which bone", "x" * 200_000).replace(",test,p2", "").replace(",test,p1\n", ",test\n")
    first, second = table(text).load("test")
    assert first.cluster is None and len(second.problem.question) > 200_000


def test_columns_for_the_card_are_numbers_where_they_can_be_and_left_out_where_empty(table):
    text = "question,answer,age,sex\nIs it?,yes,41,f\nAnd?,no,,nan\n"
    first, second = table(text, split="all", columns=Columns(card=("age", "sex"))).load("all")
    assert first.card == {"age": 41.0, "sex": "f"} and second.card == {"sex": "nan"}


def test_the_fingerprint_is_that_of_the_content(table):
    assert table().fingerprint == table().fingerprint != table(CSV + "\n").fingerprint
    assert table().privacy == "phi"


@each_row(
    "text, changes, message",
    [
        (CSV.replace(",B,test", ",E,test"), {}, "mine.csv:2: right: must be one of A, B or the text of one option, found 'E'"),
        (CSV.replace("a,b,c", "a,b,b"), {}, "mine.csv:1: the column 'b' is duplicated"),
        (CSV, {"name": "mine.xlsx"}, "mine.xlsx: found a file that ends in '.xlsx'; dataset.path names a .csv, .jsonl"),
        (CSV.replace("B12,C", ","), {}, "mine.csv:2: a, b, c: must be 2 to 26 options, found 0"),
        (CSV.replace("q2", "q1"), {}, "mine.csv:3: id: 'q1' is also at"),
        (CSV.replace('"', ""), {}, "mine.csv:3: must have 8 cells, found 9; quote cells"),
        (CSV.replace("p2", '"p2'), {}, "mine.csv:4: not CSV, perhaps cut off or a quote is left open"),
        (CSV.replace("Which vitamin?", ""), {}, "mine.csv:2: ask: must be a text"),
        (CSV, {"split": "dev"}, "has test, train; found 'dev'"),
        (CSV, {"columns": Columns("ask", "rihgt", ("a", "b"), split="part")}, "dataset.columns.answer: {folder}/mine.csv has no column 'rihgt'; did you mean right? there are id, ask"),
        (CSV, {"columns": Columns("ask", "right", split="part"), "decisions": ("yes",)}, "right: must be yes, found 'B'"),
    ],
)  # fmt: skip
def test_a_bad_row_or_column_is_named_with_what_would_be_right(table, tmp_path, text, changes, message):
    made = table(text, **changes)
    with pytest.raises(ConfigError) as refused:
        list(made.load(made.split))
    assert message.replace("{folder}", str(tmp_path)) in str(refused.value)


def test_a_missing_file_is_named_with_its_key_and_a_near_one(tmp_path):
    (tmp_path / "questions.csv").write_text("")
    wrong = re.escape(
        f"dataset.path: the file {tmp_path / 'qustions.csv'} does not exist; did you mean questions.csv? "
    )
    with pytest.raises(ConfigError, match=rf"^{wrong}dataset\.path names a \.csv"):
        Table(str(tmp_path / "qustions.csv")).load("all")


def test_an_unreadable_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"names a \.csv"):
        list(Table(str(tmp_path / "none.csv")).load("all"))
    (tmp_path / "latin.csv").write_bytes("question,answer\nWo tut es weh, m\u00fcde?,a\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        list(Table(str(tmp_path / "latin.csv")).load("all"))
    with pytest.raises(ConfigError, match="not both"):
        Table("x.csv", columns=Columns(options=("a",)), decisions=("yes",))
