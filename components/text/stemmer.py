"""Porter's stemmer.

Source: Porter 1980, An algorithm for suffix stripping, Program 14(3), 130-137, with the later changes (bli to ble, logi
to log) on the author's page, where the condition of a suffix is about the letters before it.
"""

import re
from collections.abc import Callable, Sequence

_VOWELS = "aeiou"
_MEASURE = re.compile("v+c+")
STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip

STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip

_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
    "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a word in lower case; words of one or two characters stay as they are."""
    if len(word) <= 2:
        return word
    word = past(plural(word), short)
    if word.endswith("y") and "v" in shape(word[:-1]):
        word = word[:-1] + "i"
    return final(removed(replaced(replaced(word, STEP_2), STEP_3)), short)


def shape(word: str) -> str:
    """The word as v and c; a y after a consonant is a vowel."""
    found = ""
    for letter in word:
        found += "v" if letter in _VOWELS or (letter == "y" and found.endswith("c")) else "c"
    return found


def measure(word: str) -> int:
    """How often vowels are followed by consonants."""
    return len(_MEASURE.findall(shape(word)))


def doubled(word: str) -> bool:
    """Whether it ends with the same consonant twice."""
    return len(word) > 1 and word[-1] == word[-2] and shape(word).endswith("c")


def short(word: str) -> bool:
    """Whether it ends with consonant, vowel, consonant, the last of them not w, x or y."""
    return shape(word).endswith("cvc") and word[-1] not in "wxy"


def plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def past(word: str, short: Callable[[str], bool]) -> str:
    """Step 1b."""
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    suffix = next((end for end in ("ed", "ing") if word.endswith(end)), "")
    rest = word[: len(word) - len(suffix)]
    if not suffix or "v" not in shape(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if measure(rest) == 1 and short(rest) else rest


def replaced(word: str, rules: Sequence[tuple[str, str]]) -> str:
    """Steps 2 and 3: the longest suffix decides, whether its condition holds or not."""
    for suffix, other in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if measure(rest) > 0 else word
    return word


def removed(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        rest = word[: -len(suffix)]
        if word.endswith(suffix) and (suffix != "ion" or rest.endswith(("s", "t"))):
            return rest if measure(rest) > 1 else word
    return word


def final(word: str, short: Callable[[str], bool]) -> str:
    """Step 5."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word) > 1 else word
