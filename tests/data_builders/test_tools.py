"""The sample data of the knowledge tools: forms, sizes, agreement, and that the script reproduces the committed files."""

import json
import re

import pytest

from data_builders.facts import load_facts
from data_builders.tools import __main__ as builder

FOLDER = builder.SHIPPED
BUILT = builder.build()


def read(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_data_have_the_stated_size():
    assert len(read("drugs.jsonl")) >= 60
    assert len(read("vocabulary.jsonl")) >= 220
    assert len(read("corpus/textbook.jsonl")) >= 150
    assert len(read("web.jsonl")) >= 30
    assert sum((FOLDER / name).stat().st_size for name in BUILT) < 600_000


def test_drugs_have_the_keys_of_the_drug_table():
    for row in read("drugs.jsonl"):
        assert list(row) == ["name", "description", "state", "indication", "dosages", "synonyms"]
        assert row["dosages"] and all(list(one) == ["from", "route", "strength"] for one in row["dosages"])
        assert all(value for one in row["dosages"] for value in one.values())
        assert row["description"].startswith(row["name"]) and row["state"] in ("solid", "liquid")


def test_concepts_are_numbered_defined_and_related_to_each_other():
    rows = read("vocabulary.jsonl")
    names = {row["name"] for row in rows}
    assert [row["cui"] for row in rows] == [f"WR{number:04}" for number in range(1, len(rows) + 1)]
    for row in rows:
        assert row["definition"].endswith(".") and row["definition_source"] == "WR"
        assert row["relations"], row["name"]
        assert all(one["from"] == row["name"] and one["to"] in names for one in row["relations"])


def test_no_name_or_synonym_belongs_to_two_concepts():
    names = [name.lower() for row in read("vocabulary.jsonl") for name in {row["name"], *row["synonyms"]}]
    assert len(set(names)) == len(names)


def test_treatments_are_related_in_both_directions():
    relations = {(one["from"], one["label"], one["to"]) for row in read("vocabulary.jsonl") for one in row["relations"]}
    assert ("Metformin", "may_treat", "Type 2 diabetes mellitus") in relations
    assert {(to, from_) for from_, label, to in relations if label == "may_treat"} == {
        (from_, to) for from_, label, to in relations if label == "may_be_treated_by"
    }


@pytest.mark.parametrize("name", ["corpus/textbook.jsonl", "corpus/summaries.jsonl"])
def test_passages_are_short_and_clean(name):
    rows = read(name)
    assert len({row["id"] for row in rows}) == len({row["title"] for row in rows}) == len(rows)
    for row in rows:
        assert list(row) == ["id", "title", "content"]
        assert 60 <= len(row["content"].split()) <= 150, row["title"]
        assert not re.search(r"  |\.\.|\b(a a|an an|None)\b|\b(\w+) \2\b|[{}]", row["content"]), row["content"]


def test_pages_have_reserved_addresses_and_paragraphs():
    rows = read("web.jsonl")
    assert len({row["url"] for row in rows}) == len(rows)
    for row in rows:
        assert re.fullmatch(r"https://health\.wardround\.example/[a-z0-9-]+", row["url"])
        assert len(row["paragraphs"]) >= 3 and all(text.endswith(".") for text in row["paragraphs"])


def test_drugs_vocabulary_and_corpus_agree():
    concepts = {row["name"]: row for row in read("vocabulary.jsonl")}
    passages = {row["title"]: row["content"] for row in read("corpus/textbook.jsonl")}
    for drug in load_facts().drugs.values():
        assert drug.group in concepts[drug.name]["definition"] and drug.group in passages[drug.name]
    for row in read("drugs.jsonl"):
        assert row["name"] in concepts and row["name"] in passages


@pytest.mark.parametrize(
    ("noun", "whole"),
    [("opioid receptor antagonist", "an opioid receptor antagonist"), ("uroselective blocker", "a uroselective blocker"),
     ("HMG-CoA reductase inhibitor", "an HMG-CoA reductase inhibitor"), ("biguanide", "a biguanide")],
)  # fmt: skip
def test_article_follows_pronunciation(noun, whole):
    assert builder.article(noun) == whole
