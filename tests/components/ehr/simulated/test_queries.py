from components.ehr.simulated.queries import Ago, Query, Where, translate
from tests.table import each_row


def mimic(sql):
    return translate(sql, "mimic_iii")


def test_names_are_those_of_the_tables():
    sql = "select patients.gender from patients where patients.subject_id = 7"
    assert mimic(sql) == Query("patients", (Where("SUBJECT_ID", "=", "7"),), "values", "GENDER")


@each_row(
    "condition, where",
    [
        ("admissions.dischtime is null", [("DISCHTIME", "=", "null")]),
        ("admissions.dischtime is not null", [("DISCHTIME", "!=", "null")]),
        ("admissions.age between 40 and 70", [("AGE", ">=", "40"), ("AGE", "<=", "70")]),
        ("strftime('%Y',admissions.admittime) = '2101'", [("ADMITTIME", ">=", "2101-01-01"), ("ADMITTIME", "<", "2102-01-01")]),
        ("datetime(admissions.admittime) >= datetime(current_time,'-2 month')", [("ADMITTIME", ">=", Ago("-2 month"))]),
        ("admissions.insurance != 'o''hara'", [("INSURANCE", "!=", "o'hara")]),
    ],
)  # fmt: skip
def test_conditions(condition, where):
    found = mimic(f"select count(*) from admissions where {condition}")
    assert found == Query("admissions", tuple(Where(*one) for one in where), "count", "ROW_ID")


def test_nested_statements_first_rows_and_other_names():
    sql = (
        "select max(a.age) from admissions as a where a.hadm_id = ( select icustays.hadm_id from icustays"
        " order by icustays.intime asc limit 1 )"
    )
    inner = Query("icustays", (), "values", "HADM_ID", "min(INTIME)")
    assert mimic(sql) == Query("admissions", (Where("HADM_ID", "in", inner),), "max", "AGE")


def test_a_join_that_only_narrows_is_a_condition():
    sql = "SELECT MAX ( D.AGE ) FROM DEMOGRAPHIC AS D INNER JOIN LAB ON D.HADM_ID = LAB.HADM_ID WHERE LAB.FLAG = 'x'"
    inner = Query("LAB", (Where("FLAG", "=", "x"),), "values", "HADM_ID")
    assert translate(sql, "treqs") == Query("DEMOGRAPHIC", (Where("HADM_ID", "in", inner),), "max", "AGE")


@each_row(
    "sql",
    [
        "select count(subject_id) from admissions",
        "select admissions.age, admissions.hadm_id from admissions",
        "select admissions.age from admissions where admissions.age like '4%'",
        "select admissions.age from admissions where admissions.age = 4 or admissions.age = 5",
        "select admissions.age from admissions group by admissions.age",
        "select count(*) from admissions inner join patients on admissions.subject_id = patients.subject_id",
        "select sum(t1.a) from ( select admissions.age as a from admissions ) as t1",
        "select admissions.nothing from admissions",
        "select nothing.age from admissions",
        "select strange.age from strange",
        "select admissions.age from admissions order by admissions.age desc limit 2",
        "select max(admissions.age) from admissions order by admissions.age limit 1",
        "",
    ],
)
def test_statements_that_are_not_simple_are_left_to_sql(sql):
    assert mimic(sql) is None
    assert translate("select a.b from a", "elsewhere") is None
