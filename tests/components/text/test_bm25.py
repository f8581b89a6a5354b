from math import log

import pytest

from components.text.bm25 import Bm25

TEXTS = {"b": "renal failure", "a": "renal failure", "c": "heart failure and heart block", "d": "asthma"}


def test_scores_follow_the_formula():
    index = Bm25.over(TEXTS.items())
    (hit,) = index.search("hearts", 3)
    idf = log(1 + (4 - 1 + 0.5) / (1 + 0.5))
    average = (2 + 2 + 4 + 1) / 4
    assert hit.id == "c"
    assert hit.score == pytest.approx(idf * 2 / (2 + 0.9 * (1 - 0.4 + 0.4 * 4 / average)), abs=1e-8)


def test_a_repeated_query_term_counts_as_often_as_it_is_asked():
    index = Bm25.over(TEXTS.items())
    once, twice = index.search("asthma", 1)[0].score, index.search("asthma asthma", 1)[0].score
    assert twice == pytest.approx(2 * once)


def test_ties_are_in_the_order_of_ids_as_text():
    texts = {name: "serum sodium" for name in ("example_2", "example_10", "example_1")}
    index = Bm25.over(texts.items())
    assert [hit.id for hit in index.search("sodium", 9)] == ["example_1", "example_10", "example_2"]
    assert [hit.id for hit in index.search("sodium", 2)] == ["example_1", "example_10"]


def test_ties_do_not_depend_on_the_order_of_terms():
    texts = {"z": "alpha beta gamma delta", "a": "delta gamma beta alpha", "m": "gamma alpha delta beta"}
    found = Bm25.over(texts.items()).search("gamma delta alpha beta", 3)
    assert [hit.id for hit in found] == ["a", "m", "z"] and len({hit.score for hit in found}) == 1


def test_only_documents_that_share_a_term_are_found():
    index = Bm25.over(TEXTS.items())
    assert [hit.id for hit in index.search("failure", 9)] == ["a", "b", "c"]
    assert index.search("zebra", 9) == [] and index.search("", 9) == [] and index.search("failure", 0) == []


def test_an_index_may_be_empty():
    assert Bm25.over([]).search("failure", 3) == []
    assert Bm25.over([("a", ""), ("b", "the")]).search("the failure", 3) == []


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(ValueError, match="id 'a'"):
        Bm25.over([("a", "x"), ("b", "x"), ("a", "y")])
