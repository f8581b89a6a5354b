from components.ehr.filtering import as_kind, is_null, members, unquote
from tests.table import each_row


@each_row(
    "text, kind, value",
    [
        ("58", "int", 58), ("58.0", "int", 58), ("58.", "int", 58), (" +58 ", "int", 58), ("-3", "int", -3), ("1e2", "int", 100),
        ("58.5", "int", None), ("", "int", None), ("old", "int", None), ("1_000", "int", None), ("inf", "int", None), ("nan", "float", None),
        ("0058", "int", 58), (str(2**63 - 1), "int", 2**63 - 1), (str(2**63), "int", 2.0**63), ("1e30", "int", 1e30),
        ("9" * 100_000, "int", float("inf")), (".5", "float", 0.5), ("58", "float", 58.0), ("1e-3", "float", 0.001), ("1,5", "float", None),
        (" 0389", "text", " 0389"), ("", "text", ""),
    ],
)  # fmt: skip
def test_a_value_in_a_column_of_a_type(text, kind, value):
    found = as_kind(text, kind)
    assert found == value and type(found) is type(value)


@each_row(
    "text, bare",
    [("'a b'", "a b"), ('"a"', "a"), ("'a\"", "'a\""), ("''a''", "'a'"), ("'", "'"), ("''", ""), ("a'", "a'")],
)
def test_one_pair_of_matching_quotes_is_dropped(text, bare):
    assert unquote(text) == bare


def test_null_is_a_bare_word():
    assert all(map(is_null, ["null", "none", "nan", "None", "NULL"]))
    assert not any(map(is_null, ["'null'", "no", ""]))


@each_row(
    "written, found",
    [
        ("[1, 2.5, 'a, b']", ["1", "2.5", "a, b"]),
        ("('a',)", ["a"]),
        ("[None, [1], 'a']", ["a"]),
        ("[]", []),
        ("[0389, V10]", ["0389", "V10"]),
        ("[aspirin, 'heparin ', \"x\"]", ["aspirin", "heparin ", "x"]),
        ("a, b", ["a", "b"]),
        ("a", ["a"]),
        ("'a'", ["a"]),
        (r"['a\d']", [r"a\d"]),
        ("[" * 10_000, []),
    ],
)
def test_members_of_a_list(written, found):
    assert members(written) == found
