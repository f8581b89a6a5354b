"""Words, and what may not stand in a question: names that reveal the anatomy, the modality or the finding."""

import re
from collections.abc import Mapping
from typing import Any
from unicodedata import name

Record = Mapping[str, Any]
# Words that would reveal the anatomy or the modality. Plain "image", "picture", "study", "body part" reveal nothing.
_TELLING = """
    head neck brain skull face sinus throat thyroid carotid chest thorax lung pulmonary heart cardiac breast mammary
    abdomen abdominal pelvis pelvic belly liver kidney bowel limb arm leg knee hip hand foot joint bone fracture spine
    spinal vertebra vertebral back disc cord
    xray x-ray x-rays radiograph radiography radiographic film plain-film ct cat tomography tomogram mr mri magnetic
    resonance ultrasound ultrasonography sonogram sonography doppler echo echocardiography mammogram mammography
    mammographic scan scanner contrast signal attenuation hyperdense echogenic
    tumour tumor cancer nodule mass lesion cyst haemorrhage infection
"""
GIVEAWAY = frozenset(_TELLING.split())
# Ordinary words that occur in a name as well ("first metatarsal", "vertebral body") and reveal nothing.
_ORDINARY = frozenset(("body", "with", "from", "both", "whole", "disease", "first", "second", "clinical", "response"))
LONGEST = 4_000  # letters of a text
_MARKUP = re.compile(r"[{}]|<[A-Za-z/!?][^<>]{0,40}>?|&#?\w{1,20};")
_KNOWN = ("LATIN ", "GREEK ", "MICRO ")
_LITTLE = """
    a an and are as at be by for from has have in is it its no nor not of on or than that the there this to was were
    what which with within without
"""
_SMALL = frozenset(_LITTLE.split())
_SMALL_SHARE = 0.12  # half of what the shipped record with the fewest has
_SCORE_NOUNS = frozenset(
    ("score", "grade", "stage", "type", "class", "category", "index", "level", "criteria", "status")
)


def words(text: str) -> list[str]:
    """The words of a text in lower case; parts that a hyphen joins are one."""
    return re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", text.lower())


def is_line(text: Any) -> bool:
    """Whether this is a text of one line that can be seen, of at most ``LONGEST`` letters, without spaces around it."""
    return isinstance(text, str) and 0 < len(text) <= LONGEST and text == text.strip() and text.isprintable()


def odd_piece(text: str) -> str | None:
    """What plain English does not hold: braces, markup, a letter that is neither Latin nor Greek; None: nothing."""
    if found := _MARKUP.search(text):
        return found[0]
    strange = (one for one in text if not one.isascii() and one.isalpha() and not name(one, "").startswith(_KNOWN))
    return next(strange, None)


def reads_english(text: str) -> bool:
    """Whether as many of the words as in an English text are small ones, such as "the" and "of"."""
    said = words(text)
    return sum(word in _SMALL for word in said) >= _SMALL_SHARE * len(said)


def numbers(text: str) -> set[str]:
    """The numbers of a text, as they are written."""
    return set(re.findall(r"\d+(?:\.\d+)?", text))


def sentences(text: str) -> int:
    """How many sentences a text has."""
    return len(re.findall(r"[.!?](?=\s|$)", text))


def plural_aware(text: str) -> set[str]:
    """The words of a text, also their parts and each without its plural's s."""
    found = set(words(text)) | {piece for word in words(text) for piece in word.split("-")}
    return found | {word.rstrip("s") for word in found}


def name_words(record: Record) -> set[str]:
    """The words of a record's own names, which a question must not say."""
    organ, anomaly = record["OrganBiomarker"]["OrganObject"], record["Anomaly"]
    text = " ".join((organ, anomaly["Part"], anomaly["Symptom"], record["Disease"], record["Indicator"]["Name"]))
    parts = {piece for word in words(text) for piece in (word, *word.split("-"))}
    return {word for word in parts if len(word) >= 4} - _ORDINARY - _SCORE_NOUNS
