"""What a statement reads, in addition to the golden vectors (tests/golden/test_ehragent_answers.py)."""

import pytest

from components.sql.complexity import level, n_columns, n_slots, tables_of
from tests.table import each_row


@each_row("sql, tables", [
        ("SELECT a FROM Lab, main.cost AS c, patients p WHERE x IN (1, 2)", ("lab", "cost", "patients")),
        ("select a from (patients join admissions using (a, b)) order by x, y", ("patients", "admissions")),
        ("select a from lab where b in (select c, d from cost) group by e, lab.f", ("lab", "cost")),
        ("with t1(a, b) as (select x from lab), own as not materialized (select 1) select * from t1 join own", ("lab",)),
        ("select 'from home', \"FROM\" from [lab results] -- from cost", ("lab results",)),
        ("select * from json_each(x) cross join `patients`", ("patients",)),
        ("select a is not distinct from b from lab union select c from lab", ("lab",)),
        ("select a from ((select b from lab) as t1), cost /* join x */", ("lab", "cost")),
        ("select 1)) from lab", ("lab",)),
        ("select 1", ()),
    ])  # fmt: skip
def test_base_tables_after_from_and_join(sql, tables):
    assert tables_of(sql) == tables


def test_published_rule_reads_words_after_a_small_from():
    sql = "select a from lab join cost where b = 'from home' and c in ( SELECT d FROM patients )"
    assert tables_of(sql, joins=False) == ("lab", "home")


@each_row(
    "sql, columns",
    [
        ("select lab.a, Lab.A, t1.b, lab.c from lab where lab.c > 0.5", 2),
        ('SELECT LAB."A", lab.`a` FROM LAB WHERE LAB.B = "x.y"', 2),
        ("select count(*) from lab where a = 'b.c'", 0),
        ("select treatment.t1, t12.a from treatment", 1),
    ],
)
def test_columns(sql, columns):
    assert n_columns(sql) == columns


def test_slots_of_a_template():
    assert n_slots("did patient {patient_id} have {lab_name} [time_filter_global1]?") == 3


def test_level_is_the_number_of_tables_in_roman_numerals():
    assert [level(n) for n in (1, 2, 3, 4, 5, 9, 10, 14)] == ["I", "II", "III", "IV", "V", "IX", "X", "XIV"]
    with pytest.raises(ValueError, match="no level, found 0"):
        level(0)
