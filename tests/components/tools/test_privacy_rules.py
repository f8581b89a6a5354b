import pytest

from components.tools.privacy_detector import Finding, find, join_findings, rules
from tests.slow import slow
from tests.table import each_row

ENGINES = ("rules", pytest.param("presidio", marks=slow))


def found(engine, text, **settings):
    """What an engine finds; Presidio is imported by the tests that need it, because that takes a second."""
    if engine == "rules":
        results = find(text, 0.4)
    else:
        presidio = pytest.importorskip("components.tools.privacy_presidio", reason="needs the extra text")
        results = presidio.analyze(presidio.engine(settings.get("model"), rules("notes")), text, 0.4)
        results = [Finding(*one) for one in results]
    return {(one.kind, text[one.start : one.end]) for one in join_findings(results)}


SHOWN = [
    ("Seen by Dr. O'Brien today.", {("PERSON", "O'Brien")}),
    ("Patient: Ada J. Quill, 44", {("PERSON", "Ada J. Quill")}),
    ("My name is Ada Quill.", {("PERSON", "Ada Quill")}),
    ("MRN: 00-12345", {("RECORD_NUMBER", "00-12345")}),
    ("hadm_id=2345678", {("RECORD_NUMBER", "2345678")}),
    ("SSN 512-45-6789", {("RECORD_NUMBER", "512-45-6789")}),
    ("on 03/04/1950", {("DATE", "03/04/1950")}),
    ("on 3rd of March 2021", {("DATE", "3rd of March 2021")}),
    ("on March 3, 2021 and May 5", {("DATE", "March 3, 2021"), ("DATE", "May 5")}),
    ("in October 2019", {("DATE", "October 2019")}),
    ("a 94-year-old woman, aged 101", {("AGE_ABOVE_89", "94"), ("AGE_ABOVE_89", "101")}),
    (
        "lives at 12 Old Mill Road, Springfield, IL 62704",
        {("ADDRESS", "12 Old Mill Road, Springfield, IL 62704")},
    ),
    ("of Springfield, IL 62704", {("ADDRESS", "IL 62704")}),
    ("NR4 7TJ", {("ADDRESS", "NR4 7TJ")}),
    ("call (212) 555-0143", {("PHONE", "(212) 555-0143")}),
    ("mail ada@example.org", {("EMAIL", "ada@example.org")}),
    ("see www.example.org/a", {("URL", "www.example.org/a")}),
    ("from 192.168.7.12", {("IP_ADDRESS", "192.168.7.12")}),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text,kinds", SHOWN)
def test_identifiers_are_found(engine, text, kinds):
    assert found(engine, text) == kinds


FURTHER = [
    ("on 1950-04-03", {("DATE", "1950-04-03")}),
    ("call +44 20 7946 0143 or 020 7946 0143", {("PHONE", "+44 20 7946 0143"), ("PHONE", "020 7946 0143")}),
    ("card 4111 1111 1111 1111", {("RECORD_NUMBER", "4111 1111 1111 1111")}),
    ("GB82 WEST 1234 5698 7654 32", {("RECORD_NUMBER", "GB82 WEST 1234 5698 7654 32")}),
    ("see https://example.org/a?b", {("URL", "https://example.org/a?b")}),
    ("00:1B:44:11:3A:B7", {("MAC_ADDRESS", "00:1B:44:11:3A:B7")}),
]


@each_row("text,kinds", FURTHER)
def test_general_identifiers_are_found_without_presidio(text, kinds):
    assert found("rules", text) == kinds


CLINICAL = [
    "BP 120/80 mmHg, HR 88, Hb 13.5, WBC 10.2, platelets 250 000, pain 5/10.",
    "Given aspirin 500 mg in 2019; vitamin B12 1000 mcg. In May 10 mg were enough.",
    "Patient: Male, 45 years. A 45-year-old man with pain at L4/L5, ICD-10 I21.4.",
    "The patient is started on vancomycin.The fever settles over 95 years of follow-up.",
    "T2 4 mm lesion, 12-lead ECG, NCT01234567, PMID 25763772, p.Tyr263Cys",
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", CLINICAL)
def test_clinical_figures_are_left_alone(engine, text):
    assert found(engine, text) == set()


def test_every_kind_of_rule_is_shown():
    assert {one.kind for one in (*rules("notes"), *rules("general"))} <= {
        kind for _, kinds in [*SHOWN, *FURTHER] for kind, _ in kinds
    }


@slow
def test_an_installed_pipeline_finds_names_without_a_title(pipeline):
    text = "Ada Quill of Norwich has gout."
    assert found("presidio", text, model=pipeline) == {("PERSON", "Ada Quill"), ("ADDRESS", "Norwich")}
