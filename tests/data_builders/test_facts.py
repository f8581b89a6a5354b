"""The written facts: complete, consistent, and readable inside sentences."""

import pytest
import yaml

from components.core.errors import ConfigError
from data_builders.facts import FOLDER, inline, listed, load_facts


def test_tables_are_complete_for_the_sample_data():
    facts = load_facts()
    assert (len(facts.diseases), len(facts.drugs), len(facts.terms), len(facts.summaries)) == (86, 78, 264, 28)
    assert facts.treated("Allopurinol") == ["Gout"]
    assert facts.diseases["Gout"].site == "First metatarsophalangeal joint"


def test_every_drug_treats_a_disease_and_every_term_is_used():
    facts = load_facts()
    assert [name for name in facts.drugs if not facts.treated(name)] == []
    used = {name for d in facts.diseases.values() for name in (d.site, d.test, d.procedure, *d.findings)}
    assert set(facts.terms) == used - {""}


def test_texts_are_sentences_or_phrases_as_required():
    facts = load_facts()
    for disease in facts.diseases.values():
        assert disease.care.endswith(".") and disease.note.endswith("."), disease.name
        assert not (disease.meaning + disease.cause + disease.shows).endswith("."), disease.name
    for drug in facts.drugs.values():
        assert drug.care.endswith(".") and not drug.acts.endswith("."), drug.name
        assert all(len(form.split(" | ")) == 3 for form in drug.forms), drug.name
    assert not [term.name for term in facts.terms.values() if term.definition.endswith(".")]


def test_a_disease_that_names_an_unknown_drug_is_refused(tmp_path):
    for path in FOLDER.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rows = yaml.safe_load((FOLDER / "diseases.yaml").read_text(encoding="utf-8"))
    rows[0]["drugs"] = ["Moonwort"]
    (tmp_path / "diseases.yaml").write_text(yaml.safe_dump(rows), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"disease 'Asthma' names \['Moonwort'\]"):
        load_facts(tmp_path)


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("Gout", "gout"),
        ("Crohn disease", "Crohn disease"),
        ("HIV infection", "HIV infection"),
        ("T2DM", "T2DM"),
        ("Haemoglobin A1c", "haemoglobin A1c"),
        ("Anti-CCP antibody", "anti-CCP antibody"),
    ],
)
def test_a_name_keeps_its_capital_only_where_it_is_a_proper_one(name, inside):
    assert inline(name) == inside


def test_names_are_joined_as_in_a_sentence():
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")] == ["a", "a and b", "a, b or c"]
