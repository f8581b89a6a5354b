import pytest

from components.core.errors import ConfigError
from components.tools.backends import stamp
from components.tools.entity_recognizor import Entry, read_terms

ROW = '{"cui": "X1", "name": "Gout", "synonyms": ["podagra", "Arthritis urica"], "semantic_type": "Disease"}\n'


def test_names_synonyms_and_plurals_lead_to_the_concept(tmp_path):
    path = tmp_path / "v.jsonl"
    path.write_text(ROW)
    gout = Entry("X1", "Gout", "Disease")
    terms = ["gout", "podagra", "arthritis urica", "gouts", "podagras", "arthritis uricas"]
    assert read_terms((stamp(path),)).entries == dict.fromkeys(terms, gout)


def test_the_first_file_decides_what_a_term_means(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(ROW)
    second.write_text(ROW.replace("X1", "X2").replace("podagra", "big toe pain"))
    found = read_terms((stamp(first), stamp(second))).entries
    assert found["gout"].cui == "X1" and found["big toe pain"].cui == "X2"


def test_a_row_that_is_not_as_it_should_be_is_named(tmp_path):
    path = tmp_path / "v.jsonl"
    path.write_text(ROW + '{"cui": "X2", "name": "Flu", "synonyms": "grippe", "semantic_type": "Disease"}\n')
    with pytest.raises(ConfigError, match=r"v\.jsonl:2: synonyms: must be a list of texts"):
        read_terms((stamp(path),))
