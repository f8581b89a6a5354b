"""The EHR tools give a cell no way around the limits (attacks 16, 17, 19, 20, 21)."""

from tests.components.sandbox.attacks.attack import Attack, Table

STATEMENTS = {
    "attach the file": "ATTACH '@FILE@' AS a",
    "attach a new file": "ATTACH 'new.sqlite' AS a",
    "attach by a URI that writes": "ATTACH 'file:@FILE@?mode=rwc&immutable=0' AS a",
    "attach memory": "ATTACH ':memory:' AS a",
    "a setting": "PRAGMA query_only = OFF",
    "a setting that writes": "PRAGMA writable_schema = ON",
    "a setting that reads": "PRAGMA database_list",
    "a setting as a table": "SELECT * FROM pragma_database_list",
    "a setting as a table of functions": "SELECT * FROM pragma_function_list()",
    "a copy": "VACUUM INTO 'new.sqlite'",
    "a clean-up": "VACUUM",
    "a new table": "CREATE TABLE new (a)",
    "a temporary table": "CREATE TEMP TABLE new (a)",
    "a temporary view": "CREATE TEMP VIEW new AS SELECT 1",
    "a trigger": "CREATE TEMP TRIGGER t AFTER INSERT ON patients BEGIN SELECT 1; END",
    "a virtual table": "CREATE VIRTUAL TABLE new USING fts5(a)",
    "more rows": "INSERT INTO patients VALUES (1, 1, 'M')",
    "other rows": "UPDATE patients SET GENDER = 'F'",
    "rows replaced": "REPLACE INTO patients VALUES (1, 1, 'M')",
    "rows returned from a deletion": "DELETE FROM patients RETURNING *",
    "fewer rows": "DELETE FROM patients",
    "fewer rows after a WITH": "WITH a AS (SELECT 1) DELETE FROM patients",
    "no table": "DROP TABLE patients",
    "another name": "ALTER TABLE patients RENAME TO new",
    "an index": "CREATE INDEX i ON patients (ROW_ID)",
    "statistics": "ANALYZE",
    "a transaction": "BEGIN IMMEDIATE",
    "a savepoint": "SAVEPOINT s",
    "two statements": "SELECT 1; DROP TABLE patients",
    "two statements and a remark": "SELECT 1 /* ; */; -- \nDELETE FROM patients",
    "an extension": "SELECT load_extension('/lib/x86_64-linux-gnu/libc.so.6')",
    "a file read": "SELECT readfile('/etc/passwd')",
    "a file written": "SELECT writefile('new', 'x')",
    "an editor": "SELECT edit('x', 'true')",
    "a pointer": "SELECT fts3_tokenizer('x', x'0000000000000000')",
    "a remark that hides": "/* SELECT */ DROP TABLE patients",
    "an explanation of a change": "EXPLAIN DELETE FROM patients",
    "a change of the tables' list": "UPDATE sqlite_master SET sql = 'x'",
    "a null byte": "SELECT 1\0; DROP TABLE patients",
}
BOMBS = {
    "recursion that grows": "WITH RECURSIVE a(n) AS (SELECT 'x' UNION ALL SELECT n || n FROM a) SELECT max(length(n)) FROM a",
    "a huge text by printf": "SELECT printf('%.*c', 1000000000, 'x')",
    "a huge text by a width": "SELECT printf('%1000000000d', 1)",
    "a huge text by replace": "SELECT replace(replace(hex(zeroblob(50000)), '0', hex(zeroblob(50000))), '0', hex(zeroblob(50000)))",
    "a huge blob": "SELECT zeroblob(1000000000)",
    "a huge group": "SELECT group_concat(hex(zeroblob(40000))) FROM patients a, patients b",
    "a huge statement": "SELECT 1" + " + 1" * 1_000_000,
    "deep brackets": "SELECT " + "(" * 50_000 + "1" + ")" * 50_000,
    "deep unions": " UNION ALL ".join(["SELECT 1"] * 5000),
    "huge rows": "SELECT *, hex(zeroblob(40000)) FROM patients a, patients b, patients c",
}
ENDLESS = {  # the statement's own limit of 10 s is longer than what these cells get
    "recursion without end": "WITH RECURSIVE a(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a) SELECT count(*) FROM a",
    "a cross join": "SELECT count(*) FROM patients a, patients b, patients c, patients d, patients e",
}
PATTERNS = {
    "a slow pattern": "SELECT count(*) FROM patients a, patients b WHERE hex(zeroblob(20000)) || a.ROW_ID || b.ROW_ID LIKE '%0%0%0%0%0%0%0%0%0%1'",
    "a slow shape": "SELECT count(*) FROM patients a, patients b WHERE hex(zeroblob(20000)) || a.ROW_ID || b.ROW_ID GLOB '*0*0*0*0*0*0*0*0*1'",
}
EXPRESSIONS = {
    "attributes": "(1).__class__", "a call": "__import__('os').getcwd()", "a name": "FILE", "a builtin": "len('x')",
    "a huge power": "9**9**9", "a chain of powers": "2**2**2**2**2**2", "a huge shift": "1 << 10**9", "a comprehension": "[x for x in (1, 2)]",
    "a function": "(lambda: 1)()", "a text": "'a' * 10**9", "an assignment": "(a := 1)", "a format": "f'{1}'", "a condition of names": "1 if FILE else 2",
    "deep brackets": "(" * 3000 + "1" + ")" * 3000, "deep signs": "-" * 100_000 + "1", "a long sum": "1" + "+1" * 200_000,
    "a division by nothing": "1/0", "a statement": "import os", "a factorial": "factorial(10**7)", "a null byte": "1+1\0",
}  # fmt: skip
DURATIONS = {
    "SQL": "-1 year'); DROP TABLE patients; --", "a quote": "'", "another function": "0 day', 'start of year", "a text": "x" * 1_000_000,
    "a huge number": "-" + "9" * 400 + " year", "a number past the calendar": "-9999999 year", "a null byte": "-1 year\0",
    "digits of other scripts": "-\u0661 year", "two lines": "-1 year\n; SELECT 1",
}  # fmt: skip
CONDITIONS = {
    "a slow pattern": "GENDER=" + "(a+)+" * 100 + "$", "many joints": "GENDER=M" + "||GENDER=M" * 100_000, "a long value": "GENDER=" + "x" * 1_000_000,
    "a long column": "x" * 1_000_000 + "=1", "nothing but signs": "=<>!" * 100_000, "a call": "GENDER=__import__('os').getcwd()",
    "a query": "GENDER=@FILE@", "a null byte": "GENDER=\0", "deep brackets": "GENDER=" + "(" * 100_000,
}  # fmt: skip
ARGUMENTS = {
    "a call": "__import__('os').getcwd()", "attributes": "GENDER.__class__", "a long text": "x" * 1_000_000, "many columns": "ROW_ID, " * 100_000 + "max",
}  # fmt: skip
TABLE_NAMES = {
    "a path": "../../gold",
    "an absolute path": "/etc/passwd",
    "a null byte": "patients\0",
    "a long name": "x" * 1_000_000,
    "a list": "sqlite_master",
}


def endless(sql: str, status: str) -> Attack:
    return Attack(f"answer = SQLInterpreter({sql!r})", status, "", "", hasty=True)


def kinds(call: str, texts: dict[str, str], kind: str, status: str = "error") -> dict[str, Attack]:
    """Each text given to a tool; the kind of the error stands at the end of what it says."""
    cell = "text = {text!r}.replace('@FILE@', FILE)\ntry: found = {call}\nexcept Exception as error:\n    if hasattr(error, 'kind'): error.args = (f'{{str(error)[:200]}} KIND={{error.kind}}',)\n    raise\nanswer = str(found)[:200]"
    return {
        name: Attack(cell.format(text=text, call=call), status, f"KIND=({kind})$", "") for name, text in texts.items()
    }


FILTERED = kinds("FilterDB(LoadDB('patients'), text)", CONDITIONS, r"\w+")
VALUES = kinds("GetValue(LoadDB('patients'), text)", ARGUMENTS, r"\w+")
LOADED = kinds("LoadDB(text)", TABLE_NAMES, r"\w+")
MEMBERS = "FilterDB(LoadDB('patients'), 'SUBJECT_ID in (' + '1,' * 500 + '1)')"
TABLES = {
    "no statement changes or leaves the database": Table(
        kinds("SQLInterpreter(text)", STATEMENTS, "forbidden_sql|sql_error")
    ),
    "every bomb of SQL ends": Table(kinds("SQLInterpreter(text)", BOMBS, "forbidden_sql|sql_error")),
    "no statement outlasts its cell": Table({
        **{name: endless(sql, "timeout") for name, sql in ENDLESS.items()},
        **{name: endless(sql, "ok|error|timeout") for name, sql in PATTERNS.items()},
    }),
    "no expression is more than arithmetic": Table(kinds("Calculate(text)", EXPRESSIONS, "bad_expression")),
    "no duration is more than a duration": Table(kinds("Calendar(text)", DURATIONS, "bad_duration")),
    "no argument of a table takes long or leaves it": Table({
        **{f"filter: {name}": row for name, row in FILTERED.items()},
        **{f"value: {name}": row for name, row in VALUES.items()},
        **{f"load: {name}": row for name, row in LOADED.items()},
        "filter: a long list": Attack(f"answer = len({MEMBERS})", "ok", "^8$", ""),
    }),
}  # fmt: skip
