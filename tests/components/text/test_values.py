"""Which answers are right, in addition to the golden vectors (tests/golden/test_ehragent_answers.py)."""

import time

from components.text.values import cells, lenient, most_frequent, normal, strict
from tests.table import each_row


@each_row(
    "prediction, gold",
    [
        ("{'a': 'heparin', 'b': ['aspirin']}", ["aspirin", "heparin"]),
        ("{3}", ["3"]),
        ("'Heparin  sodium'", ["heparin sodium"]),
        ("\"heparin\"", ["'heparin'"]),
        ("1, 2", ["2", "1"]),
        ("[None]", []),
        ("[[], ()]", []),
        ("NaT", ["none"]),
        ("[True, 0]", ["no", "yes"]),
        ("1e-05", ["0.00001"]),
        ("9003.0", ["9003"]),
        ("0.33", ["0.333333"]),
        ("12.34", ["12.345"]),
        ("12.35", ["12.345"]),
        ("1000000.5", ["1000001"]),  # 0.5 in a million
        ("2105-12-20 06:10", ["2105-12-20T06:10:00"]),
        ("heparin, heparin, aspirin", ["aspirin", "heparin"]),
        ("aspirin, \"d5w\"", ["d5w", "aspirin"]),
        ("in ns, x, y, 3.0, x, y", ["x, y", "in ns", "3"]),
        ("1e3", ["1000"]),
        ("1000", ["1e3"]),
        ("1E+03", ["1000"]),
        ("1.0e3", ["1000"]),
        ("[1e3, '2E2']", ["200", "1000"]),
        ("1.5e-4", ["0.00015"]),
        ("1.5E-04", ["0.00015"]),
        ("2e0", ["2"]),
        ("+5", ["5"]),
        ("[np.float64(1000.0), np.int64(5)]", ["5", "1e3"]),
        ("-0.0", ["0"]),
        ("heparin", ["heparin", "Heparin"]),
        ("[" * 5000, ["[" * 5000]),
    ],
)  # fmt: skip
def test_right(prediction, gold):
    assert strict(prediction, gold)


@each_row(
    "prediction, gold",
    [
        ("10026354.0", ["10026355"]),  # whole numbers, however written: a difference within the tolerance
        ("12", ["12.3"]),
        ("0.3", ["0.333333"]),
        ("3e03317", ["3e03316"]),  # procedure codes
        ("3e033", ["3" + "0" * 33]),
        ("1e3abc", ["1000"]),
        ("e3", ["1000"]),
        ("1e", ["1"]),
        ("1e3.5", ["1000"]),
        ("inf", ["1e999"]),
        ("-inf", ["inf"]),
        ("nan", ["0"]),
        ("+-5", ["5"]),
        ("1001", ["1e3"]),
        ("01", ["1"]),
        ("1,234", ["1234"]),
        ("['aspirin, heparin']", ["aspirin", "heparin"]),
        ("aspirin, heparin", ["aspirin"]),
        ("aspirin,heparin", ["aspirin", "heparin"]),
        ("a, b", ["a, b", "a"]),
        ("x, a, b, y", ["a, b", "x, y"]),  # what stood around a piece that was taken out is not joined
        ("a, a, a", ["a, a", "b"]),
        ("[(3, None)]", ["3"]),
        ("2105-12-20", ["2105-12-21"]),
        ("", ["none", "3"]),
        ("[0x" + "f" * 20_000 + "]", ["3"]),
    ],
)
def test_wrong(prediction, gold):
    assert not strict(prediction, gold)


def test_thousands_of_values_are_compared_in_time():
    many = [f"{n}.5" for n in range(1000)]
    started = time.perf_counter()
    assert strict(str([float(one) for one in reversed(many)]), many)
    assert not strict("9" * 60_000, many)
    assert time.perf_counter() - started < 3


@each_row(
    "prediction, gold, yes_no, right",
    [
        ("3 patients", ["3"], True, True),
        ("False, True", ["0"], True, False),  # only True becomes 1 where there is one
        ("0", ["No"], True, True),
        ("0", ["No"], False, False),
        ("0", ["None"], False, True),
        ("5", ["5.0"], True, True),
        ("b and a", ["a", "b"], True, True),
        ("a 5", ["a", "5.0"], True, False),  # only a single gold loses its .0
    ],
)
def test_published_judge(prediction, gold, yes_no, right):
    assert lenient(prediction, gold, yes_no) is right


def test_cells_are_distinct_texts_without_missing_ones():
    rows = [(1, 2.0, None), (float("nan"), 1 / 3, "0389"), (True, -0.0, b"a"), (0.5, 1e20, "0389")]
    assert cells(rows) == ["1", "2", "0.333333", "0389", "0", "a", "0.5", "100000000000000000000"]
    assert cells([]) == []


def test_the_same_number_in_any_notation_is_one_vote():
    assert {normal(one) for one in ("1000", "1e3", "1E+03", "+1000", "1000.0")} == {"1000"}
    assert normal("-0.0") == normal("0") == "0" and normal("1e3abc") == "1e3abc"


def test_the_published_judge_knows_no_notation():
    assert not lenient("1e3", ["1000"])


@each_row("readings, found", [(["C", None, "A", "A", "C"], "C"), (["B", "A", "A"], "A"), ([None], None)])
def test_the_most_frequent_reading_is_found_and_of_equals_the_first(readings, found):
    assert most_frequent(readings) == found
