"""Skill: grading by a rubric, from what stands in the prompt alone: the texts, the fields and their categories.

On an ordered scale it goes by how many of the reference's words the rest says; of unordered categories it takes the
one whose sentence shares most words with what was done. It asks no answer key, and it is crude on purpose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

_TEXT = re.compile(r'^<text title="([^"]*)">\n(.*?)\n</text>$', re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^## (\w+): .*\nPick (.*):\n((?:- \w+: .*\n?)+)", re.MULTILINE)
_CATEGORY = re.compile(r"^- (\w+): (.*)$", re.MULTILINE)
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_COMMON = frozenset(
    ("a", "an", "the", "of", "to", "in", "on", "and", "or", "is", "are", "was", "that", "this", "with", "it")
)
_GIVEN = ("Question", "Given", "Reference")


def graded(text: str) -> str | None:
    """The reply to a prompt that asks for grades; None for any other."""
    head, rubric, asked = text.rpartition("\nRubric: ")
    fields = _FIELD.findall(asked)
    if not rubric or not fields or "end with exactly these lines:" not in asked:
        return None
    texts = dict(_TEXT.findall(head))
    lines = []
    for name, how, listed in fields:
        categories = dict(_CATEGORY.findall(listed))
        picked = _on_a_scale(texts, categories) if "from the best" in how else _nearest(texts, categories)
        lines.append(f"{name}: {picked}")
    return "\n".join(["I go by the words that the texts share.", *lines])


def _on_a_scale(texts: Mapping[str, str], categories: Mapping[str, str]) -> str:
    """The category at the place that the share of the reference's words has on the scale."""
    wanted = _words(texts.get("Reference", ""))
    told = [texts["Answer"]] if "Answer" in texts else [text for title, text in texts.items() if title != "Reference"]
    there = _words(" ".join(told))
    share = len(wanted & there) / len(wanted) if wanted else 0.0
    names = list(categories)
    return names[round((1 - share) * (len(names) - 1))]


def _nearest(texts: Mapping[str, str], categories: Mapping[str, str]) -> str:
    """The category with the most words of its own in what was done; of equals the first."""
    sentences = {name: _words(f"{name.replace('_', ' ')} {sentence}") for name, sentence in categories.items()}
    often = Counter(word for words in sentences.values() for word in words)
    done = _words(" ".join(text for title, text in texts.items() if title not in _GIVEN))
    return max(sentences, key=lambda name: sum(1 / often[word] for word in sentences[name] & done))


def _words(text: str) -> set[str]:
    """The words that tell something; all of them where none does, as in a letter."""
    words = set(_WORD.findall(text.casefold()))
    return words - _COMMON or words
