import pytest


@pytest.fixture(scope="module")
def rules():
    from components.tools import privacy_rules  # with spaCy: two seconds, for the one worker that needs it

    return privacy_rules


@pytest.fixture(scope="module")
def analyzer(rules):
    return rules.engine(None, ("US", "GB"))


def found(rules, analyzer, text):
    results = sorted(analyzer.analyze(text, "en", score_threshold=0.4), key=lambda r: r.start)
    return {(rules.KINDS.get(r.entity_type, r.entity_type), text[r.start : r.end]) for r in results}


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


@pytest.mark.parametrize("text,kinds", SHOWN)
def test_identifiers_are_found(rules, analyzer, text, kinds):
    assert found(rules, analyzer, text) == kinds


CLINICAL = [
    "BP 120/80 mmHg, HR 88, Hb 13.5, WBC 10.2, platelets 250 000, pain 5/10.",
    "Given aspirin 500 mg in 2019; vitamin B12 1000 mcg. In May 10 mg were enough.",
    "Patient: Male, 45 years. A 45-year-old man with pain at L4/L5, ICD-10 I21.4.",
    "The patient is started on vancomycin.The fever settles over 95 years of follow-up.",
    "T2 4 mm lesion, 12-lead ECG, NCT01234567, PMID 25763772, p.Tyr263Cys",
]


@pytest.mark.parametrize("text", CLINICAL)
def test_clinical_figures_are_left_alone(rules, analyzer, text):
    assert found(rules, analyzer, text) == set()


def test_every_kind_of_rule_is_shown(rules):
    assert set(rules.RULES) <= {kind for _, kinds in SHOWN for kind, _ in kinds}


def test_an_installed_pipeline_finds_names_without_a_title(rules, pipeline):
    text = "Ada Quill of Norwich has gout."
    assert found(rules, rules.engine(pipeline, ("US",)), text) == {("PERSON", "Ada Quill"), ("ADDRESS", "Norwich")}
