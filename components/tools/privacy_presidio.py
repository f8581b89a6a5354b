"""Presidio (Microsoft, MIT) with this project's rules for clinical notes; nothing is downloaded.

Needs the extra ``text``. Imported with the first text that is checked, because Presidio and spaCy take a second.
"""

import logging
import re
from collections.abc import Sequence
from functools import lru_cache

import spacy
import tldextract
from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
from presidio_analyzer import predefined_recognizers as known
from presidio_analyzer.nlp_engine import SpacyNlpEngine

logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
_DOMAINS = tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())
_KINDS = {"DATE_TIME": "DATE", "PHONE_NUMBER": "PHONE", "EMAIL_ADDRESS": "EMAIL", "LOCATION": "ADDRESS"} | {
    kind: "RECORD_NUMBER" for kind in ("US_SSN", "UK_NHS", "CREDIT_CARD", "IBAN_CODE")
}
Rule = tuple[str, str, float, bool]  # kind, pattern, score, whether the case of letters counts


def analyze(analyzer: AnalyzerEngine, text: str, threshold: float) -> list[tuple[str, int, int, float]]:
    """Kind, start, end and score of what Presidio finds with at least this score; findings may overlap."""
    results = analyzer.analyze(text, "en", score_threshold=threshold)
    return [(_KINDS.get(r.entity_type, r.entity_type), r.start, r.end, round(r.score, 2)) for r in results]


class _Email(known.EmailRecognizer):
    """Presidio's, with the list of domains that tldextract ships, not one from the network."""

    def validate_result(self, pattern_text: str) -> bool:
        """Whether the domain may exist."""
        return bool(_DOMAINS(pattern_text).fqdn)


class _Pipeline(SpacyNlpEngine):
    """A blank spaCy pipeline, or one that is installed; never one that must be fetched."""

    def __init__(self, model: str | None) -> None:
        super().__init__()
        self._pipeline = spacy.load(model) if model else spacy.blank("en")

    def load(self) -> None:
        """Use the pipeline that is installed."""
        self.nlp = {"en": self._pipeline}  # type: ignore[assignment]  # Presidio declares None


@lru_cache(maxsize=2)
def engine(model: str | None, rules: Sequence[Rule]) -> AnalyzerEngine:
    """Presidio with custom rules; ``model`` is an installed spaCy pipeline that finds names."""
    numbers = [known.CreditCardRecognizer(), known.IbanRecognizer(), known.NhsRecognizer(), known.UsSsnRecognizer()]
    phones = known.PhoneRecognizer(supported_regions=("US", "GB"))  # known without a country's prefix
    links = known.UrlRecognizer(patterns=[one for one in known.UrlRecognizer.PATTERNS if "Non schema" not in one.name])
    electronic = [_Email(), links, known.IpRecognizer(), known.MacAddressRecognizer()]
    custom = []
    for number, (kind, pattern, score, cased) in enumerate(rules):
        name, flags = f"{kind.lower()}_{number}", re.MULTILINE if cased else re.MULTILINE | re.IGNORECASE
        patterns = [Pattern(name, pattern, score)]
        custom.append(PatternRecognizer(kind, name=name, patterns=patterns, global_regex_flags=flags))
    trained = [known.SpacyRecognizer(supported_entities=["PERSON", "LOCATION"])] if model else []
    registry = RecognizerRegistry([known.DateRecognizer(), phones, *numbers, *electronic, *custom, *trained])
    return AnalyzerEngine(registry=registry, nlp_engine=_Pipeline(model), supported_languages=["en"])
