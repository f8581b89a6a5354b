"""How much two texts have in common: F1 of words, BLEU, ROUGE-L, as published and as maintained packages have them.

Sources: Papineni et al. 2002 (BLEU), Lin 2004 (ROUGE). All values are in [0, 1]; an empty text scores 0.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from math import exp, log
from typing import Any, NamedTuple

from components.text.cached import cached_short

_WORD = re.compile(r"[a-z0-9]+")
_MAX_ORDER = 4
# What 13a reads as something else, in its order.
_MARKUP = (("<skipped>", ""), ("-\n", ""), ("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


class Overlap(NamedTuple):
    """The common share of each text, and the harmonic mean of both."""

    precision: float
    recall: float
    f1: float


def _overlap(common: int, n_reference: int, n_response: int) -> Overlap:
    """Precision, recall and F1 of counts; 0 where nothing is common."""
    if not common:
        return Overlap(0.0, 0.0, 0.0)
    precision, recall = common / n_response, common / n_reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def word_f1(reference: str, response: str) -> float:
    """F1 of the sets of lower-case words."""
    from components.text.tokens import words  # forty patterns, which no first call needs

    if reference == response:
        return float(bool(reference.strip()))
    expected, found = set(words(reference)), set(words(response))
    return _overlap(len(expected & found), len(expected), len(found)).f1


def bleu_unigram(reference: str, response: str) -> float:
    """BLEU-1 as NLTK's ``sentence_bleu`` with weights (1, 0, 0, 0): clipped precision times brevity penalty."""
    from components.text.tokens import words

    expected, found = words(reference), words(response)
    common = _clipped(Counter(expected), Counter(found))
    if not common:
        return 0.0
    return _brevity(len(expected), len(found)) * common / len(found)


def bleu(reference: str, response: str, order: int = _MAX_ORDER) -> float:
    """Sentence BLEU up to n-grams of this order, as sacrebleu: 13a tokens, exponential smoothing, effective order."""
    expected, found = _split(reference), _split(response)
    if not expected or not found or reference == response:
        return float(reference == response and bool(expected))
    matches = _matches(reference, response)
    if order == 1 or not matches[0]:
        return float(_brevity(len(expected), len(found)) * matches[0] / len(found))
    smoothing, logs = 1.0, list[float]()
    for total, common in zip(range(len(found), 0, -1), matches[:order], strict=False):
        if not common:
            smoothing *= 2
        logs.append(log(100.0 * common / total if common else 100.0 / (smoothing * total)))
    return min(1.0, _brevity(len(expected), len(found)) * exp(sum(logs) / len(logs)) / 100)


def _brevity(n_reference: int, n_response: int) -> float:
    """BLEU's penalty for responses shorter than the reference."""
    return 1.0 if n_response >= n_reference else exp(1 - n_reference / n_response)


def _clipped(reference: Mapping[Any, int], response: Mapping[Any, int]) -> int:
    """How much of the response is in the reference, nothing counted more often than there."""
    return sum([n if n < (most := reference[item]) else most for item, n in response.items() if item in reference])


@lru_cache(maxsize=4)  # every order is asked for
def _matches(reference: str, response: str) -> list[int]:
    """How many n-grams of each order two texts have in common."""
    expected, found = _split(reference), _split(response)
    if found[: len(expected)] == expected:  # the response begins with the whole reference
        return [max(0, len(expected) - size) for size in range(_MAX_ORDER)]
    matches = [_clipped(Counter(expected), Counter(found))]
    for size in range(2, _MAX_ORDER + 1):
        if not matches[-1]:  # a longer one holds shorter ones
            return [*matches, *[0] * (_MAX_ORDER - len(matches))]
        theirs, mine = [zip(*[text[at:] for at in range(size)], strict=False) for text in (expected, found)]
        known = set(every := list(theirs))
        if len(known) == len(every):  # none counts twice
            matches.append(len(known.intersection(mine)))
        else:
            matches.append(_clipped(Counter(every), Counter(filter(known.__contains__, mine))))
    return matches


@cached_short(256, 10_000)
def _split(text: str) -> Sequence[str]:
    """The 13a tokens of a text."""
    for mark, plain in _MARKUP:
        text = text.replace(mark, plain)
    return [token for run in text.split() for token in ((run,) if run.isalnum() else _tokens(run))]


@cached_short(16_384)
def _tokens(run: str) -> Sequence[str]:
    """The 13a tokens of a run of text without blanks, across which no rule reaches."""
    if run[-1] in ".,:;" and run[:-1].isalnum():  # as the rules would, in a tenth of the time
        return run[:-1], run[-1]
    return tuple(_tokenizer()(f" {run} ").split())


@cache
def _tokenizer() -> Callable[[str], str]:
    """That of sacrebleu, without its own cache of 65,536 texts."""
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

    return partial(TokenizerRegexp.__call__.__wrapped__, TokenizerRegexp())  # type: ignore[no-untyped-call]


def rouge_l(reference: str, response: str) -> Overlap:
    """ROUGE-L as package ``rouge-score`` has it: longest common subsequence of lower-case ASCII words, no stemming. The
    package itself is not used: it depends on NLTK and with it 1.8 s of imports, and its table costs milliseconds a
    pair. Tests hold this against it."""
    from rapidfuzz.distance import LCSseq  # the first score needs it, not the first call

    expected, found = _plain_words(reference), _plain_words(response)
    whole = found[: len(expected)] == expected  # also where the texts are equal
    common = len(expected) if whole else LCSseq.similarity(expected, found)
    return _overlap(common, len(expected), len(found))


@cached_short(256, 10_000)
def _plain_words(text: str) -> tuple[str, ...]:
    """Runs of ASCII letters and digits in lower case."""
    return tuple(_WORD.findall(text.lower()))


def rouge_l_summary(reference: str, response: str) -> float:
    """ROUGE-L F as package ``rouge`` 1.0.1 has it: summary level, distinct words, case-sensitive. Texts are cut at
    every period. Its counting departs from Lin 2004: the words of the longest common subsequences of all pairs of
    sentences are pooled as a set. Identical texts give 0.999999995. The package finds nothing in texts so long that its
    recursion fails; here they are scored."""
    expected, found = _sentences(reference), _sentences(response)
    if not expected or not found:
        return 0.0
    pooled: set[str] = set()
    for sentence in expected:
        for other in found:
            pooled.update(_traced(sentence, other))
    recall = len(pooled) / len({word for sentence in expected for word in sentence})
    precision = len(pooled) / len({word for sentence in found for word in sentence})
    return 2.0 * (precision * recall) / (precision + recall + 1e-8)


def _sentences(text: str) -> list[list[str]]:
    """The pieces between periods, as words between single blanks; a piece of blanks is one empty word."""
    return [" ".join(piece.split()).split(" ") for piece in text.split(".") if piece]


def _traced(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """One longest common subsequence, traced from the end; from equal neighbours the second text gives way."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, word in enumerate(first, 1):
        above, row = table[i - 1], table[i]
        for j, other in enumerate(second, 1):
            row[j] = above[j - 1] + 1 if word == other else max(above[j], row[j - 1])
    traced: list[str] = []
    i, j = len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            traced.append(first[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return traced
