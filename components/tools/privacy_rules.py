"""Rules that find what identifies a person in clinical notes, by regular expressions alone.

The kinds follow the identifiers of the US Safe Harbor rule, 45 CFR 164.514(b)(2): names, addresses, dates but for the
year, ages above 89, phone numbers, e-mail and other electronic addresses, record, account and card numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex  # type: ignore[import-untyped]  # it ships no types; lookbehinds of any length


@dataclass(frozen=True)
class Finding:
    """``kind`` at characters ``start`` to ``end`` (exclusive); ``score`` in 0-1 is the recogniser's trust in it."""

    kind: str
    start: int
    end: int
    score: float


Rules = Mapping[str, Sequence[tuple[str, float, bool]]]

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
# white space of bounded length: what may be any length makes lookbehinds slow on long blank texts
_GAP, _MAY_GAP = r"[ \t]{1,3}", r"[ \t]{0,3}"
_SPACE, _MAY_SPACE = r"\s{1,3}", r"\s{0,3}"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_NO_AMOUNT = rf"(?!{_MAY_SPACE}(?:mg|mcg|g|ml|mmol|units?|%)\b)(?![./]?\d)"
_YEAR = r"\d{4}\b"
_WORD = r"[A-Z][\p{L}'’-]{1,40}"
_NOBODY = (
    r"(?!(?:Male|Female|Man|Woman|Boy|Girl|The|This|An?|No|None|Not|Unknown|Is|Was|Has|Had|Denies|Reports|States"
    r"|Presents|Physician|Surgeon|Consultant|Date|Age|Sex|Name)\b)"
)
_NAME = rf"{_NOBODY}{_WORD}(?:{_GAP}(?:[A-Z]\.|{_WORD})){{0,2}}"
_INITIALS = rf"(?:[A-Z]\.{_MAY_GAP}){{0,3}}"
_TITLE = r"(?:Dr|Mr|Mrs|Ms|Miss|Mx|Prof|Professor|Doctor|Nurse|Sister|Rev|Sir|Dame)"
_LABEL = (
    r"(?:[Pp]atient(?:'s)?(?: [Nn]ame)?|(?:[Ff]irst |[Ll]ast |[Ff]ull |[Ss]ur)?[Nn]ame|[Ss]igned(?: by)?|[Ss]een by"
    r"|[Aa]ttending|[Rr]eferred by|[Dd]ictated by|[Nn]ext of kin|GP|PCP)"
)
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Boulevard|Blvd|Court|Place|Square|Terrace|Close"
    r"|Crescent|Parkway|Highway|Way)\b\.?"
)
_FLAT = rf"(?:,?{_GAP}(?:Apt|Unit|Suite|Flat)\.?{_MAY_GAP}\w{{1,6}})?"
_TOWN = rf"(?:,{_MAY_GAP}{_WORD}(?: {_WORD})?)?"
_ZIP = r"[A-Z]{2} \d{5}(?:-\d{4})?\b"
_POSTCODE = r"[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}\b"
_RECORD = (
    r"(?:MRN|SSN|(?:medical record|record|patient|hospital|account|accession|case|chart|insurance|policy|member|NHS"
    r"|licen[cs]e|device|serial) ?(?:number|num|no\.?|id|\#)|(?:subject|hadm|stay|icustay)_id|patientunitstayid)"
)
_IS = rf"{_MAY_SPACE}(?:[:#=]|is|was)?{_MAY_SPACE}"
# kind -> (pattern, score, whether letters' case counts)
NOTES: Rules = {
    "PERSON": (
        (rf"(?<=\b{_TITLE}\.?{_GAP}){_INITIALS}{_NAME}", 0.85, True),
        (rf"(?<=\b{_LABEL}{_MAY_GAP}:{_MAY_GAP})(?:{_TITLE}\.?{_GAP})?{_INITIALS}{_NAME}", 0.8, True),
        (rf"(?<=\b[Nn]amed?{_GAP}(?:is{_GAP})?){_NAME}", 0.6, True),
    ),
    "RECORD_NUMBER": ((rf"(?<=\b{_RECORD}{_IS})(?=[A-Z/-]{{0,8}}\d)[A-Z0-9][A-Z0-9/-]{{2,30}}", 0.9, False),),
    "DATE": (
        (rf"\b{_DAY}(?:{_SPACE}of)?[\s-]{{1,3}}{_MONTH}(?:,?[\s-]{{1,3}}{_YEAR})?", 0.7, True),
        (rf"\b{_MONTH}{_SPACE}{_DAY}\b{_NO_AMOUNT}(?:,?{_SPACE}{_YEAR})?", 0.7, True),
        (rf"\b{_MONTH},?{_SPACE}(?:19|20|21)\d{{2}}\b", 0.6, True),
    ),
    "AGE_ABOVE_89": (
        (r"\b(?:9\d|1[01]\d)(?=[ -]{0,3}(?:years?[ -]{1,3}old|yrs?[ -]{1,3}old|y/?o)\b)", 0.7, False),
        (rf"(?<=\baged?{_MAY_SPACE}:?{_SPACE})(?:9\d|1[01]\d)\b", 0.7, False),
    ),
    "URL": ((r"\bwww\.[\w-]+(?:\.[\w-]+)+(?:/[^\s,;]*)?", 0.6, False),),
    "ADDRESS": (
        (rf"\b\d{{1,5}}[A-Za-z]?{_GAP}(?:{_WORD}{_GAP}){{1,3}}{_STREET}{_FLAT}{_TOWN}(?:,?{_GAP}{_ZIP})?", 0.8, True),
        (rf"(?<=, ){_ZIP}", 0.6, True),
        (rf"\b{_POSTCODE}", 0.6, True),
        (r"\bP\.?\s?O\.? Box \d+\b", 0.8, False),
    ),
}
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
# identifiers of any text; Presidio has recognisers of its own for them, which also check digits and domains
GENERAL: Rules = {
    "DATE": (
        (r"(?<![\d./-])(?:[0-3]?\d([./-])[0-3]?\d\1(?:\d{2}|\d{4})|\d{4}([/-])[01]?\d\2[0-3]?\d)(?![\d/-])", 0.6, True),
    ),
    "PHONE": (
        (r"(?<![\w.+])\+\d{1,3}(?:[ .-]?\(?\d{2,4}\)?){3,5}(?!\w)", 0.5, True),
        (r"(?<![\w.-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])\d{3}[ .-]\d{4}(?![\w-])", 0.5, True),
        (r"(?<![\w.-])\(?0\d{2,4}\)?[ -]\d{3,4}[ -]?\d{3,4}(?![\w-])", 0.5, True),
    ),
    "EMAIL": ((r"[\w.+%-]{1,64}@(?:[\w-]+\.)+[A-Za-z]{2,24}\b", 1.0, True),),
    "URL": ((r"\bhttps?://[^\s,;<>\"']+", 0.6, False),),
    "IP_ADDRESS": (
        (rf"(?<![\w.]){_BYTE}(?:\.{_BYTE}){{3}}(?![\w.]*\d)", 0.6, True),
        (r"(?<![\w:])(?:[0-9A-F]{1,4}:){7}[0-9A-F]{1,4}(?![\w:])", 0.6, False),
    ),
    "MAC_ADDRESS": ((r"(?<![\w:-])[0-9A-F]{2}([:-])(?:[0-9A-F]{2}\1){4}[0-9A-F]{2}(?![\w:-])", 0.6, False),),
    "RECORD_NUMBER": (
        (r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])", 0.5, True),
        (r"(?<![\w-])(?:\d{4}[ -]){3}\d{4}(?![\w-])", 0.5, True),
        (r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?\b", 0.5, True),
    ),
}


@lru_cache(maxsize=1)
def _compiled() -> Sequence[tuple[str, regex.Pattern[str], float]]:
    """Every rule as kind, pattern and score."""
    return [
        (kind, regex.compile(pattern, regex.MULTILINE | (0 if cased else regex.IGNORECASE)), score)
        for table in (NOTES, GENERAL)
        for kind, entries in table.items()
        for pattern, score, cased in entries
    ]


def find(text: str, threshold: float) -> list[Finding]:
    """What the rules with at least this score find; findings may overlap."""
    return [
        Finding(kind, match.start(), match.end(), score)
        for kind, pattern, score in _compiled()
        if score >= threshold
        for match in pattern.finditer(text)
    ]
