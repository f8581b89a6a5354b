import pytest

from components.tools.vocabulary import VocabularyStore
from tests.table import each_row


@pytest.fixture
def store():
    made = VocabularyStore()
    names = [
        ("C1", "Myocardial infarction"), ("C1", "Heart attack"), ("C2", "Old myocardial infarction"),
        ("C3", "Infarction"), ("C4", 'The "quoted" 1,25-dihydroxy α-thing'),
    ]  # fmt: skip
    made.fill(
        [
            ("concept", [("C1", "Myocardial infarction"), ("C2", "Old myocardial infarction"), ("C3", "Infarction")]),
            ("name", names),
            ("definition", [("C1", "MSH", "first"), ("C1", "MSH", "second"), ("C1", "NCI", "other")]),
            ("relation", [("C1", "Myocardial infarction", "affects", f"Part {n}") for n in range(7)]),
        ]
    )
    yield made
    made.close()


@each_row(
    "term, cui",
    [
        ("heart  ATTACK", "C1"),
        ("infarctions of the myocardial", "C1"),
        ("attacks", "C1"),
        ("old infarct", "C2"),
        ("infarct", "C3"),
        ("dihydroxy 1,25", "C4"),
        ('"quoted" α', "C4"),
    ],
)
def test_terms_are_found_by_name_then_by_words(store, term, cui):
    assert store.find(term).cui == cui


@each_row("term", ["infarction of the brain", "the", "", '" OR "', "NOT", "attack*"])
def test_other_terms_are_not_found(store, term):
    found = store.find(term)
    assert found is None or (term, found.cui) == ("attack*", "C1")


def test_a_concept_has_its_first_definitions_and_relations(store):
    found = store.find("heart attack")
    assert found.definitions == {"MSH": "first", "NCI": "other"} and len(found.relations) == 5
    assert found.relations[0] == ("Myocardial infarction", "affects", "Part 0")


def test_a_long_text_is_not_a_term(store):
    assert store.find(" ".join(f"infarction w{n}" for n in range(3000))) is None
