"""Porter's stemmer with the changes of NLTK, which package ``rouge-score`` stems with.

Source: Porter 1980 by ``components.text.bm25``; the changes as NLTK 3.9 documents them. Tests hold it
against NLTK's own. Neither is needed here: NLTK's import takes two seconds.
"""

from components.text.bm25 import STEP_2, STEP_3, doubled, measure, plural, removed, replaced, shape

_KEPT = ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")
_IRREGULAR = {
    "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "innings": "inning", "outings": "outing",
    "cannings": "canning",
    **dict(zip(_KEPT, _KEPT, strict=True)),
}  # fmt: skip
_STEP_2_MORE = (*(rule for rule in STEP_2 if rule[0] != "logi"), ("fulli", "ful"))


def stem(word: str) -> str:
    """The stem of a word in lower case; words of one or two characters stay as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = word[:-1] if len(word) == 4 and word.endswith("ies") else plural(word)
    word = _past(word)
    if word.endswith("y") and len(word) > 2 and shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    return _final(removed(replaced(_second(word), STEP_3)))


def _short(word: str) -> bool:
    """Porter's condition *o, which two letters meet too: a vowel and a consonant."""
    form = shape(word)
    return (form.endswith("cvc") and word[-1] not in "wxy") or form == "vc"


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    ends = (end for end in ("ed", "ing") if word.endswith(end) and "v" in shape(word[: -len(end)]))
    if (suffix := next(ends, None)) is None:
        return word
    rest = word[: -len(suffix)]
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if doubled(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if measure(rest) == 1 and _short(rest) else rest


def _second(word: str) -> str:
    """Step 2: alli goes first and the rest once more; logi counts its l among the letters before."""
    if word.endswith("alli") and measure(word[:-4]) > 0:
        return _second(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if measure(word[:-3]) > 0 else word
    return replaced(word, _STEP_2_MORE)


def _final(word: str) -> str:
    """Step 5."""
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word[:-1]) > 1 else word
