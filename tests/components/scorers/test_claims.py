from components.core.types import Problem, Sample
from components.scorers.claims import Number, Source, about_codes, claims_in, factor, numbers_in
from tests.table import each_row


@each_row("text, value, said", [
    ("It is 17.5 mm", "18 mm", True),  # one is rounded
    ("It is 17 mm", "18 mm", False),
    ("It is 18 cm", "18 mm", False),
    ("18.0 millimetres", "18 mm", True),
    ("18", "18 mm", True),
    ("2101", "2105", False),
    ("id 10014731", "10014729", False),
    ("id 10014731.0", "10014731", True),
    ("born 2101-12-31", "2105-12-31", False),
    ("born 2105-12-31T10:30:00", "2105-12-31 10:30:00", True),
    ("born 2105-12-31 10:30:00", "2105-12-31 10:31:00", False),
    ("ICD E11.9", "E78.5", False),
    ("ICD E11.9.", "e11.9", True),
    ("code 389", "0389", False),
    ("401.9", "401.1", False),
    ("Normal chest in 3 views.", "Stage 3 lung adenocarcinoma", False),
    ("Lung adenocarcinoma of stage 3", "Stage 3 lung adenocarcinoma", True),
    ("Lung adenocarcinoma of stage 2", "Stage 3 lung adenocarcinoma", False),
    ("a BULGE of soft tissue", "soft tissue bulge", True),
    ("tissue", "soft tissue bulge", False),
    ("No nasopharyngeal soft tissue bulge. Normal study.", "Nasopharyngeal soft tissue bulge", None),
    ("The bulge wasn't there", "bulge", None),
    ("Pneumonia is ruled out", "pneumonia", None),
    ("No fracture. A soft tissue bulge.", "soft tissue bulge", True),
    ("No fracture, but a soft tissue bulge", "soft tissue bulge", True),
    ("No pneumothorax", "no pneumothorax", True),
    ("A pneumothorax", "no pneumothorax", None),
    ("non-small cell carcinoma", "carcinoma", True),
    ("f", "f", True),
    ("male", "f", False),
    ("", "", False),
    ("100 \u00b5g", "100 mg", False),
    ("1.8 cm", "18 mm", True),
    ("0.1 mg", "104 mcg", True),  # one is rounded
    ("101 mcg", "100 mcg", False),
    ("5", "\u22125", False),
    ("0,5 mg", "5 mg", None),
    ("0,5 mg", "0.5 mg", None),
    ("5 mg", "0,5 mg", None),
    ("0,5 mg", "0,5 mg", True),
    ("0,5 mg", "7 mg", False),
])  # fmt: skip
def test_a_text_says_a_value(text, value, said):
    assert Source(text).says(value, 0.05) is said


@each_row("text, value, said", [
    ("250.00", "250.00", True),
    ("250.00", "25000", True),
    ("250.0", "250.00", False),
    ("250", "250.00", False),
    ("428.0", "428.21", False),
    ("4019", "401.9", True),
    ("V45.81", "v4581", True),
    ("V45.81", "V45.82", False),
    ("glucose 120.5 mg", "120.52 mg", True),
    ("40.0", "40", True),
])  # fmt: skip
def test_codes_are_compared_as_codes_where_codes_are_asked_for(text, value, said):
    assert Source(text, codes=True).says(value, 0.05) is said


@each_row("question, target, codes", [
    ("Which ICD-9 code?", "401.9", True),
    ("Which diagnosis?", {"answer": ["ICD 401.9"]}, True),
    ("Which decoder?", "428.21", False),
    ("Code blue was called. Which heart rate?", "118", False),
])  # fmt: skip
def test_codes_are_asked_for_by_the_last_sentence_or_the_reference(question, target, codes):
    assert about_codes(Sample(Problem("1", question), target)) is codes


def test_numbers_have_decimals_and_units_and_are_no_dates_or_codes():
    found = numbers_in("1,200 of -3.50 in 2105-03-01 at 10:30, x2, 18mm, 40-year-old")
    assert found == [Number(1200), Number(-3.5, 1), Number(18, 0, "mm"), Number(40, 0, "year")]
    assert (factor(4, 2), factor(1, 2), factor(0, 0), factor(0, 1)) == (2, 2, 1, float("inf"))


@each_row("text, found", [
    ("100 \u00b5g or 100 \u03bcg", [Number(100, 0, "mcg")] * 2),
    (".5 mg, \u22125", [Number(0.5, 1, "mg"), Number(-5)]),
    ("3 mg/kg per day", [Number(3, 0, "mg", "kd")]),
    ("[18,22] 1,2,3", [Number(18), Number(22), Number(1), Number(2), Number(3)]),
    ("10014731,12 1,200,000", [Number(10014731), Number(12), Number(1_200_000)]),
    ("0,5 mg", [Number(one, places, "mg", clear=False) for one, places in ((0.5, 1), (0, 0), (5, 0))]),
])  # fmt: skip
def test_signs_points_and_commas_of_numbers(text, found):
    assert numbers_in(text) == found


@each_row("found, right, times", [
    ("100 mg", "100 mcg", 1000),
    ("1.5 g", "1500 mg", 1),
    ("0.0029 g", "2.9 mg", 1),
    ("100 mcg", "100", 1),
    ("5 mg/kg/h", "5 mcg/kg/d", None),
    ("5 mg", "5 ml", None),
])  # fmt: skip
def test_numbers_are_compared_in_one_unit(found, right, times):
    (one,), (other,) = numbers_in(found), numbers_in(right)
    assert (factor(one.in_unit_of(other).value, other.value) if one.is_comparable(other) else None) == times


@each_row("answer, claims", [
    ("40, renal failure", ["40", "renal failure"]),
    ("['E11.9', 'f']", ["E11.9", "f"]),
    ("[]", []),
    ("The study of the chest shows a nodule of 14 mm at L1 in 3 views.", ["14 mm", "L1"]),
    ("It is most likely pneumonia.", []),
    ("1,200 cells, 0,5 mg, [4,5].", ["1,200 cells", "0,5 mg", "4", "5"]),
])  # fmt: skip
def test_claims_are_values_and_of_sentences_the_numbers_and_codes(answer, claims):
    assert claims_in(answer) == claims
