"""Golden vectors of MedAgents: every ``medagents_ehragent_*.json`` in GOLDEN_DIR (default: this folder).

The other kinds of these files belong to another method; their names are known here so that none goes unread.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.panel.replies import (
    UnreadableReport,
    published_experts,
    published_report,
    published_vote,
    read_experts,
    read_report,
    read_vote,
)
from components.text.answers import parse_letter, published_letter
from components.text.values import most_frequent
from tests.panels import calls_needed

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}
NOT_OURS = {
    "README", "set", "format_version", "now", "tables", "tool_cases", "answer_cases", "memory_questions",
    "memory_ties", "memory_cases", "complexity_cases", "error_cases", "program_cases",
}  # fmt: skip
AREAS_NOT_OURS = {"tool", "error_trace", "answer"}
LEVELS = {"anal_only": "analysis", "syn_only": "summary", "syn_verif": "consultation"}


def calls(case: Mapping[str, Any]) -> int:
    if case["method"] in ("direct", "cot"):
        return 1
    return calls_needed(LEVELS[case["method"]], case["m"], case["n"], case["dissents_per_round"] or ())


def parts(report: Any) -> dict[str, str]:
    return {"key_knowledge": report.key_knowledge, "total_analysis": report.total_analysis}


def said(vote: Any) -> str:
    return "yes" if vote.yes else "no"


REPAIRED: Mapping[str, Callable[[Any], Any]] = {
    "experts": lambda case: list(read_experts(case["raw"], case["expected_count"]).fields),
    "votes": lambda case: said(read_vote(case["raw"])),
    "letters": lambda case: parse_letter(case["raw"], case["options"]) or "",
    "reports": lambda case: parts(read_report(case["raw"])),
    "majority": lambda case: most_frequent([sample or None for sample in case["samples"]]) or "",
    "call_counts": calls,
}


def crash_or_key(case: Mapping[str, Any]) -> dict[str, Any]:
    """The reading of a report by the published code, as the quirks describe it."""
    try:
        return {"key_knowledge_kept": bool(published_report(case["raw"]).key_knowledge), "crash": False}
    except UnreadableReport:
        return {"crash": "IndexError"}


PUBLISHED: Mapping[str, tuple[str, Callable[[Any], Any]]] = {  # area -> kind of cases, reader
    "experts": ("experts", lambda case: list(published_experts(case["raw"], case["expected_count"]).fields)),
    "vote": ("votes", lambda case: said(published_vote(case["raw"]))),
    "letter": ("letters", lambda case: published_letter(case["raw"])),
    "report": ("reports", crash_or_key),
}


def cases() -> Iterator[Any]:
    for path, data in FILES.items():
        for kind, found in data.get("medagents_cases", {}).items():
            for case in found:
                yield pytest.param(kind, case, id=f"{path.stem}-{case['id']}")


def quirks() -> Iterator[Any]:
    for path, data in FILES.items():
        known = {case["id"]: case for found in data.get("medagents_cases", {}).values() for case in found}
        for quirk in data.get("official_quirks", ()):
            if quirk["area"] not in AREAS_NOT_OURS:
                yield pytest.param(quirk, known.get(quirk["case"]), id=f"{path.stem}-{quirk['case']}")


def agreeing() -> Iterator[Any]:
    """Cases that the published code reads as they should be read."""
    areas = {kind: area for area, (kind, _) in PUBLISHED.items()}
    for param in cases():
        kind, case = param.values
        if case.get("official_agrees"):
            yield pytest.param(areas[kind], case, id=param.id)


def test_every_vector_is_known() -> None:
    assert FILES, f"no medagents_ehragent_*.json in {FOLDER}"
    for path, data in FILES.items():
        assert not set(data) - NOT_OURS - {"medagents_cases", "official_quirks"}, path
        assert not set(data.get("medagents_cases", {})) - set(REPAIRED), path
        areas = {quirk["area"] for quirk in data.get("official_quirks", ())}
        assert not areas - AREAS_NOT_OURS - set(PUBLISHED), path


@pytest.mark.parametrize(("kind", "case"), list(cases()))
def test_case(kind: str, case: dict[str, Any]) -> None:
    expected = case["expected_llm_calls"] if kind == "call_counts" else case["expected"]
    assert REPAIRED[kind](case) == expected


@pytest.mark.parametrize(("quirk", "case"), list(quirks()))
def test_quirk_of_the_published_readers(quirk: dict[str, Any], case: dict[str, Any]) -> None:
    _, reader = PUBLISHED[quirk["area"]]
    assert reader(case) == quirk["official_result"]


@pytest.mark.parametrize(("area", "case"), list(agreeing()))
def test_published_readers_agree_where_the_vectors_say_so(area: str, case: dict[str, Any]) -> None:
    _, reader = PUBLISHED[area]
    assert reader(case) == case["expected"]
