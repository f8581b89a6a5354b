from components.tools.entity_rules import abbreviations, phrases, rules, split
from tests.table import each_row


def found(text):
    return [text[span.start : span.end] for span in phrases(split(text), rules())]


@each_row(
    "text,tokens",
    [
        ("He doesn't, it's 13.5 mg.", ["He", "does", "n't", ",", "it", "'s", "13.5", "mg", "."]),
        (
            "beta-blockers  rise in COVID-19.\nThey",
            ["beta", "-", "blockers", "  ", "rise", "in", "COVID-19", ".", "\n", "They"],
        ),
        ("the fever.The U.S p.Tyr263Cys", ["the", "fever", ".", "The", "U.S", "p.Tyr263Cys"]),
    ],
)
def test_a_text_is_split_into_words_numbers_and_signs(text, tokens):
    words = split(text)
    assert [word.text for word in words] == tokens
    assert all(text[word.start : word.end] == word.text for word in words)
    assert all(word.spaced == (text[word.end : word.end + 1].isspace()) for word in words)


@each_row(
    "text,mentions",
    [
        ("He has a chronic kidney disease and takes lisinopril.", ["chronic kidney disease", "lisinopril"]),
        ("Significantly increased pulmonary arterial pressure was observed.", ["pulmonary arterial pressure"]),
        ("A man with type 2 diabetes presented with fevers.", ["type 2 diabetes", "fevers"]),
        ("COVID-19-associated pneumonia", ["COVID-19-associated pneumonia"]),
        ("We studied 20 patients with CFTR mutations", ["patients", "CFTR mutations"]),
        ("The purpose of this study was to compare two groups over 3 months.", []),
        ("RESULTS: there was no further analysis in the program.", []),
        ("", []),
    ],
)
def test_phrases_are_runs_of_words_with_a_medical_one(text, mentions):
    assert found(text) == mentions


@each_row(
    "text,long_forms",
    [
        ("chronic obstructive pulmonary disease (COPD)", {"COPD": "chronic obstructive pulmonary disease"}),
        ("Patients with Pseudomonas aeruginosa (Pa) infection", {"Pa": "Pseudomonas aeruginosa"}),
        ("the isoforms of dynactin 4 (DCTN4) may", {"DCTN4": "dynactin 4"}),
        ("low-density lipoprotein (LDL), then heart rate (HR)", {"LDL": "low-density lipoprotein", "HR": "heart rate"}),
        ("It rained. Then came a chill (COPD)", {}),
        ("in two groups (n)", {}),
        ("(COPD)", {}),
        ("see below (MRI) for magnetic resonance imaging", {}),
    ],
)
def test_an_abbreviation_is_explained_by_the_words_before_it(text, long_forms):
    assert {short: text[span.start : span.end] for short, span in abbreviations(text).items()} == long_forms


def test_the_first_explanation_counts():
    text = "heart rate (HR) and hazard ratio (HR)"
    assert abbreviations(text)["HR"].start == 0
