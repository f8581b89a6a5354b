from components.scorers.claims import Number, about_codes, claims_in, factor, numbers_in, says
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
])  # fmt: skip
def test_a_text_says_a_value(text, value, said):
    assert says(text, value, 0.05) is said


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
    assert about_codes("Which ICD-9 code?") and not about_codes("Which decoder?", "428.21")
    assert says(text, value, 0.05, codes=True) is said


def test_numbers_have_decimals_and_units_and_are_no_dates_or_codes():
    found = numbers_in("1,200 of -3.50 in 2105-03-01 at 10:30, x2, 18mm, 40-year-old")
    assert found == [Number(1200), Number(-3.5, 1), Number(18, 0, "mm"), Number(40, 0, "year")]
    assert (factor(4, 2), factor(1, 2), factor(0, 0), factor(0, 1)) == (2, 2, 1, float("inf"))


@each_row("answer, claims", [
    ("40, renal failure", ["40", "renal failure"]),
    ("['E11.9', 'f']", ["E11.9", "f"]),
    ("[]", []),
    ("The study of the chest shows a nodule of 14 mm at L1 in 3 views.", ["14 mm", "L1"]),
    ("It is most likely pneumonia.", []),
])  # fmt: skip
def test_claims_are_values_and_of_sentences_the_numbers_and_codes(answer, claims):
    assert claims_in(answer) == claims
