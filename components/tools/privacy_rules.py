"""What Presidio is made of here: its pattern recognisers, and further ones for clinical notes; nothing is downloaded.

Loaded with the first text that is checked, since Presidio and spaCy take a second. The kinds follow the
identifiers of the US Safe Harbor rule, 45 CFR 164.514(b)(2): names, addresses, dates but for the year, ages
above 89, phone numbers, e-mail and other electronic addresses, record, account and card numbers.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from functools import lru_cache

import spacy
import tldextract
from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    DateRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    IpRecognizer,
    MacAddressRecognizer,
    NhsRecognizer,
    PhoneRecognizer,
    SpacyRecognizer,
    UrlRecognizer,
    UsSsnRecognizer,
)

logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
_DOMAINS = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())

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
# kind -> (pattern, score, whether letters' case counts); Presidio's regex module reads lookbehinds of any length
RULES: dict[str, tuple[tuple[str, float, bool], ...]] = {
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
KINDS = {"DATE_TIME": "DATE", "PHONE_NUMBER": "PHONE", "EMAIL_ADDRESS": "EMAIL", "LOCATION": "ADDRESS"} | {
    kind: "RECORD_NUMBER" for kind in ("US_SSN", "UK_NHS", "CREDIT_CARD", "IBAN_CODE")
}
LEARNT = ("PERSON", "LOCATION")  # what an installed pipeline is asked for


class _Email(EmailRecognizer):
    """Presidio's, with the list of domains that tldextract brings along in place of one from the network."""

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the domain may exist."""
        return bool(_DOMAINS(pattern_text).fqdn)


class _Pipeline(SpacyNlpEngine):
    """A blank spaCy pipeline, or one that is installed; never one that must be fetched."""

    def __init__(self, model: str | None) -> None:
        super().__init__()
        self._pipeline = spacy.load(model) if model else spacy.blank("en")

    def load(self) -> None:
        """Take the pipeline that is there."""
        self.nlp = {"en": self._pipeline}  # type: ignore[assignment]  # Presidio declares None


@lru_cache(maxsize=2)
def engine(model: str | None, regions: Sequence[str]) -> AnalyzerEngine:
    """Presidio with the recognisers for clinical notes; ``model`` an installed spaCy pipeline that finds names."""
    numbers = [CreditCardRecognizer(), IbanRecognizer(), NhsRecognizer(), UsSsnRecognizer()]
    phones = PhoneRecognizer(supported_regions=regions)
    links = UrlRecognizer(patterns=[one for one in UrlRecognizer.PATTERNS if "Non schema" not in one.name])
    electronic = [_Email(), links, IpRecognizer(), MacAddressRecognizer()]
    own = [_recognizer(kind, number, rule) for kind, rules in RULES.items() for number, rule in enumerate(rules)]
    learnt = [SpacyRecognizer(supported_entities=list(LEARNT))] if model else []
    registry = RecognizerRegistry([DateRecognizer(), phones, *numbers, *electronic, *own, *learnt])
    return AnalyzerEngine(registry=registry, nlp_engine=_Pipeline(model), supported_languages=["en"])


def _recognizer(kind: str, number: int, rule: tuple[str, float, bool]) -> PatternRecognizer:
    """One rule as a recogniser."""
    pattern, score, cased = rule
    flags = re.MULTILINE if cased else re.MULTILINE | re.IGNORECASE
    name = f"{kind.lower()}_{number}"
    return PatternRecognizer(kind, name=name, patterns=[Pattern(name, pattern, score)], global_regex_flags=flags)
