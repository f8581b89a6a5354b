"""Text overlap by hand, and against the packages it stands for."""

from math import exp
from random import Random

import pytest

from components.text.overlap import bleu, bleu_unigram, rouge_l, rouge_l_summary, word_f1
from tests.slow import slow

A = "A nodule of 18 mm is seen in the right lung. No fluid is present."
WORDS = [
    "the",
    "lung",
    "holds",
    "a",
    "nodule",
    ",",
    "2.9",
    "cm",
    "(",
    "right",
    ")",
    ".",
    "No",
    "fluid",
    "&",
    "-5",
    "well-known",
    "\n",
    "x-ray",
    "18.",
]


def texts(n: int) -> list[tuple[str, str]]:
    rng = Random(1)
    return [tuple(" ".join(rng.choices(WORDS, k=rng.randint(1, 25))) for _ in range(2)) for _ in range(n)]  # type: ignore[misc]


def test_f1_is_of_sets_of_words() -> None:
    assert word_f1("The heart is normal.", "Heart normal") == pytest.approx(4 / 7)
    assert word_f1("lesion lesion", "lesion") == word_f1(A, A) == 1.0
    assert word_f1("lesion", "nodule") == word_f1("", "x") == word_f1("", "") == 0.0


def test_unigram_bleu() -> None:
    assert bleu_unigram("The heart is normal.", "Heart normal") == pytest.approx(exp(1 - 5 / 2))
    assert bleu_unigram("lesion", "lesion lesion") == 0.5
    assert bleu_unigram("lesion", "nodule") == 0.0 and bleu_unigram(A, A) == 1.0


# Words before a mark, which are cut without its tokenizer: letters, digits, and what other alphabets count as them.
MARKED = ("Neck. 4. ², ٣: é; x1. 7, 5; 9:", "4. Neck; ², é: ٣. 7. x1, 5: 9; ١. ½,")


def test_bleu_is_that_of_sacrebleu() -> None:
    from sacrebleu.metrics import BLEU

    packages = {order: BLEU(effective_order=True, max_ngram_order=order) for order in (1, 4)}
    for reference, response in [*texts(150), (A, A), ("ab-\ncd", "ab cd"), ("x &amp; y", "x & y z"), MARKED]:
        for order, package in packages.items():
            expected = package.sentence_score(response, [reference]).score / 100
            assert bleu(reference, response, order) == pytest.approx(expected)
    assert bleu("", "x") == bleu("x", "") == bleu("lesion", "nodule") == 0.0


def test_rouge_l_by_hand() -> None:
    found = rouge_l("The right lung holds a nodule.", "right-lung nodule, LARGE")
    assert (found.precision, found.recall) == (0.75, 0.5)
    assert found.f1 == pytest.approx(0.6)
    assert rouge_l("", "x").f1 == rouge_l("…", "…").f1 == 0.0 and rouge_l(A, A).recall == 1.0


@slow
def test_rouge_l_is_that_of_rouge_score() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    package = RougeScorer(["rougeL"])
    for reference, response in texts(300):
        expected, found = package.score(reference, response)["rougeL"], rouge_l(reference, response)
        assert (found.precision, found.recall, found.f1) == pytest.approx(
            (expected.precision, expected.recall, expected.fmeasure)
        )


def test_rouge_l_of_the_reference_package() -> None:
    assert rouge_l_summary("Grade II disease", "grade ii disease") == pytest.approx(1 / 3)
    assert rouge_l_summary(A, A) == pytest.approx(0.999999995, abs=1e-12)
    assert rouge_l_summary("a b. c", "c. b") == pytest.approx(2 * (2 / 3) / (5 / 3), abs=1e-7)
    assert rouge_l_summary("...", "a") == 0.0


def test_a_piece_of_blanks_is_one_empty_word() -> None:
    assert rouge_l_summary("a. ", "a. ") == pytest.approx(1.0, abs=1e-7)
    assert rouge_l_summary("a. ", "a") == pytest.approx(2 / 3, abs=1e-7)
