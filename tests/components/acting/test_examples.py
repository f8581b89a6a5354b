import os
from hashlib import sha256
from pathlib import Path

import pytest

from components.acting.examples import (
    Example,
    as_examples,
    fitting_examples,
    kind,
    own_examples,
    rationale_of,
    rationales,
)
from components.cab.datasets.choices import MmluMed
from components.core.errors import ConfigError
from components.core.types import Problem
from components.datasets.medagentsbench import MedAgentsBench
from components.datasets.multiple_choice import MedMcqa, MedQA
from components.datasets.pubmedqa import PubMedQA
from tests.table import each_row

DATA = os.environ.get("CLINICAL_DATA_DIR", "")
LETTERS = {"A": "gout", "B": "scurvy", "C": "rickets", "D": "pellagra"}
DECISION = {"A": "yes", "B": "no", "C": "maybe"}


def example(name: str, choices=(), question: str = "", answer: str = "A") -> Example:
    return Example(name, question or f"Which is {name}?", answer, dict(choices))


def test_own_examples_are_five_of_each_form_with_rationales_and_spread_answers():
    own = own_examples("few_shot")
    kinds = [kind(one) for one in own]
    assert {name: kinds.count(name) for name in set(kinds)} == {
        "lettered options": 5, "options yes and no": 5, "yes or no in words": 5, "open answers": 5,
    }  # fmt: skip
    assert all(one.rationale for one in own) and len({one.question for one in own}) == len(own)
    for form in ("lettered options", "options yes and no"):
        answers = {one.answer for one in own if kind(one) == form}
        assert answers == set(next(one for one in own if kind(one) == form).choices)
    assert {one.answer for one in own if kind(one) == "yes or no in words"} == {"yes", "no", "maybe"}
    assert all(one.context for one in own if one.choices == DECISION)


def test_examples_of_the_same_kind_and_number_of_options_come_first_and_once():
    five = {**LETTERS, "E": "beriberi"}
    found = [example("five", five), example("decided", DECISION), example("four", LETTERS), example("again", LETTERS, "Which is four?"), example("open")]  # fmt: skip
    assert [one.id for one in fitting_examples(Problem("p", "?", LETTERS), found)] == ["four", "five"]
    assert [one.id for one in fitting_examples(Problem("p", "?", five), found)] == ["five", "four"]
    assert [one.id for one in fitting_examples(Problem("p", "?", {"A": "yes", "B": "no"}), found)] == ["decided"]
    assert [one.id for one in fitting_examples(Problem("p", "How much?"), found)] == ["open"]


def test_a_question_that_names_its_decisions_is_shown_only_those():
    named = [example(word, question=f"Is it {word}?\nAnswer with yes, no or maybe.", answer=word) for word in ("yes", "maybe")]  # fmt: skip
    assert [
        one.id for one in fitting_examples(Problem("p", "So?\nAnswer with yes or no."), [example("open"), *named])
    ] == ["yes"]
    assert [one.id for one in fitting_examples(Problem("p", "So?\nyes, no or maybe"), named)] == ["yes", "maybe"]


def test_a_question_is_known_by_its_words_with_a_line_before_or_behind_it():
    known = {sha256(b"Does it help?").hexdigest()[:16]: "It does."}
    for question in ("Does  it help?\n", "Does it help?\nAnswer with yes or no.", "An abstract.\nDoes it help?"):
        assert rationale_of(question, known) == "It does."
    assert rationale_of("Does it harm?", known) is None


@each_row("row", [
    "text", {"id": "a", "question": "q"}, {"id": "a", "question": "q", "answer": "B", "choices": {"A": "x"}},
    {"id": "a", "question": "q", "answer": "B", "more": 1}, {"id": "a", "question": "q", "answer": 3},
])  # fmt: skip
def test_an_invalid_example_is_refused_with_its_location(row):
    with pytest.raises(ConfigError, match="here: entry 2: an example has the texts id, question, answer"):
        as_examples([{"id": "a", "question": "q", "answer": "x"}, row], "here")


def test_rationales_that_are_not_a_list_are_refused(tmp_path):
    (tmp_path / "rationales.yaml").write_text("question: x\n")
    with pytest.raises(ConfigError, match="must be a list of"):
        rationales(str(tmp_path))


def of_the_data() -> list:
    root = Path(DATA)
    pools = [
        (MedQA(str(root / "medqa")), "pool"), (MedQA(str(root / "medqa"), options=5), "pool"),
        (MedQA(str(root / "medqa"), options=5), "train5"), (MedMcqa(str(root / "medmcqa")), "pool"),
        (PubMedQA(str(root / "pubmedqa")), "train"), (MmluMed(str(root / "mmlu_med")), "dev"),
        (MedAgentsBench(str(root / "medagentsbench")), "train"),
    ]  # fmt: skip
    return [[sample for sample in dataset.load(split)] for dataset, split in pools]


@pytest.mark.skipif(not DATA, reason="needs CLINICAL_DATA_DIR")
def test_every_rationale_belongs_to_a_training_question_and_copies_nothing_of_it():
    known, used = rationales("few_shot"), set()
    pools = of_the_data()
    having = [[one for one in pool if rationale_of(one.problem.question, known)] for pool in pools]
    assert [len(found) for found in having[:6]] == [5, 5, 5, 5, 5, 29] and len(having[6]) >= 4
    for sample in (sample for found in having for sample in found):
        text = rationale_of(sample.problem.question, known)
        used.add(text)
        source = " ".join((sample.problem.context, sample.problem.question, *sample.problem.choices.values()))
        assert not runs(text, 7) & runs(source, 7), sample.problem.id
    assert used == set(known.values())


def runs(text: str, n: int) -> set[tuple[str, ...]]:
    """All runs of ``n`` words."""
    words = [word.strip(".,;:()?").lower() for word in text.split()]
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def test_rationales_name_no_letter_and_have_two_to_four_sentences():
    for text in rationales("few_shot").values():
        assert 2 <= text.count(". ") + 1 <= 4, text
        assert not any(f"{word} {letter}" in text for word in ("option", "answer", "choice") for letter in "ABCDE"), (
            text
        )
