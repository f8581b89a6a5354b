"""What a canary set shows: its time line, the signals of the newest check, the samples that moved, the verdict."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.drift.canary import Canary
from runner.drift.evidence import Found, evidence_of, newest_against_all
from runner.results.cells import number, p_text
from runner.results.sheets import Cell, Section, Sheet, columns
from runner.results.significance import holm

_MEANING = {
    "score": "the score went up or down", "length": "longer or shorter replies",
    "calls": "more or fewer calls of tools", "answer": "other answers than before",
    "tools": "other tools, or in another order", "ending": "refused, failed or stopped more or less often",
}  # fmt: skip
_LONGEST, _MOST = 300, 20  # characters of an answer, and samples, that are shown
_INTRO = (
    "Evidence starts at 1. Without drift the chance that it ever reaches the limit is at most alpha, however often and "
    "whenever you look; once it has, the verdict stays. The p of a check is the share of random draws, each of which "
    "takes another answer of a sample as its newest, that are at least as unusual as the observed answers. The p of a "
    "signal is for this signal alone, adjusted for all signals (Holm), and shows where to look. A model name or "
    "provider's fingerprint that the baseline did not have is drift by itself."
)


def add_check(canary: Canary, asking: Mapping[str, Any]) -> None:
    """Test a check against all earlier answers, and add it with its result."""
    known = [one["answers"] for one in (*canary.askings, asking)]
    samples = [[of[name] for of in known if name in of] for name in canary.samples if name in asking["answers"]]
    found: Found = newest_against_all(samples, seed=len(known))
    canary.askings.append({**asking, "p": found.p, "signals": dict(found.signals)})


def evidence(canary: Canary) -> list[float]:
    """The evidence after each check."""
    return evidence_of(one["p"] for one in canary.checks)


def drift_reasons(canary: Canary) -> list[str]:
    """Why the verdict is drift, a line for each reason; empty where it is not."""
    reasons = []
    over = [number for number, value in enumerate(evidence(canary), 1) if value >= 1 / canary.alpha]
    if over:
        reasons.append(f"since check {over[0]} the evidence was {number(1 / canary.alpha)} or more")
    known, now = ({name for one in of for name in one["answered_by"]} for of in (canary.baseline, canary.checks))
    if names := sorted(now - known):
        reasons.append(f"another model or fingerprint answers: {', '.join(names)}")
    return reasons


def section_of(canary: Canary) -> Section:
    """All tables."""
    parts = [_time_line(canary)]
    if canary.checks:
        parts += [_signals(canary), _moved(canary)]
    return Section("drift", "Drift", _INTRO, parts)


def _mean(asking: Mapping[str, Any], signal: str) -> float | None:
    known = [one[signal] for one in asking["answers"].values() if one[signal] is not None]
    return sum(known) / len(known) if known else None


def _time_line(canary: Canary) -> Sheet:
    """A row for the baseline and one for each check."""
    score = canary.headline
    base = [value for one in canary.baseline if (value := _mean(one, "score")) is not None]
    known = {name for one in canary.baseline for name in one["answers"]}
    rows: list[list[Cell]] = [
        ["baseline", canary.askings[0]["time"][:16], len(known), sum(base) / len(base) if base else None, "", 1.0,
         ", ".join({name: None for one in canary.baseline for name in one["answered_by"]})]
    ]  # fmt: skip
    for n, (one, value) in enumerate(zip(canary.checks, evidence(canary), strict=True), 1):
        changed = [f"{key}={of}" for key, of in one["changed"].items()]
        rows.append([f"check {n}", one["time"][:16], canary.compared(one), _mean(one, "score"), p_text(one["p"]),
                     value, ", ".join([*one["answered_by"], *changed])])  # fmt: skip
    limit = f"limit {number(1 / canary.alpha)} (alpha {canary.alpha}); {len(canary.samples)} samples"
    heads = columns("asked", "time (UTC)", "compared", score, "p", "evidence", "answered by")
    return Sheet("Time line", heads, rows, [f"{limit}, {canary.repeats} repeats in the baseline"])


def _signals(canary: Canary) -> Sheet:
    newest = canary.checks[-1]["signals"]
    rows = [[name, p_text(p), _MEANING[name]] for name, p in zip(newest, holm([*newest.values()]), strict=True)]
    return Sheet(f"Signals of check {len(canary.checks)}", columns("signal", "Holm p", "if small"), rows)


def _moved(canary: Canary) -> Sheet:
    """The samples of the newest check whose score or words differ from the baseline's, the largest change first."""
    heads = columns("sample", "never before", "score before", "score now", "answer before", "answer now")
    rows = sorted(_moved_rows(canary), key=lambda pair: -pair[0])[:_MOST]
    notes = [
        f"The {len(rows)} of {len(canary.samples)} samples whose score moved most; never before: a score outside of"
        " those of all repeats of the baseline, or all repeats agreed and the check differs. The answer before is the"
        " most frequent one."
    ]
    return Sheet(f"Samples that moved in check {len(canary.checks)}", heads, [row for _, row in rows], notes)


def _moved_rows(canary: Canary) -> Iterator[tuple[float, Sequence[Cell]]]:
    """Each with the size of its change."""
    for name, now in canary.checks[-1]["answers"].items():
        before = [one["answers"][name] for one in canary.baseline if name in one["answers"]]
        fresh = [signal for signal in ("score", "answer", "tools", "ending") if _is_new(signal, now, before)]
        scores = [one["score"] for one in before if one["score"] is not None]
        mean = sum(scores) / len(scores) if scores else None
        change = 0.0 if mean is None or now["score"] is None else abs(now["score"] - mean)
        if before and (fresh or change):
            (usual, times), *_ = Counter(one["text"] for one in before).most_common(1)
            old = f"{_short(usual)} ({times} of {len(before)})"
            yield change, [name, ", ".join(fresh), mean, now["score"], old, _short(now["text"])]


def _is_new(signal: str, now: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> bool:
    values = {one[signal] for one in before}
    if signal == "score" and now[signal] is not None and None not in values and values:
        return not min(values) <= now[signal] <= max(values)
    return len(values) == 1 and now[signal] not in values


def _short(text: str | None) -> str:
    text = "no answer" if text is None else " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
