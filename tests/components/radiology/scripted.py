"""Trajectories written by hand, for tests of their readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.core.messages import Message, Purpose, ToolCall, ToolSpec, Usage
from components.core.types import Action, Observation, Observed, Problem, Refusal, Sample, Step, Trajectory
from components.radiology.cards import card, spec
from components.radiology.execution import plan_of
from components.radiology.switches import Switches
from components.radiology.tasks import AC, AD, BQ, DD, DI, IE, MC, OS, RG, TASKS, TR
from tests.golden.vectors import CODE, PAPER

__all__ = ["CODE", "PAIR", "PAPER", "RECORD", "act", "episode", "exact", "plan", "refused", "sample", "tools"]

RECORD: dict[str, Any] = {
    "Information": {"Age": "60", "Sex": "Male"},
    "Anatomy": "Chest",
    "Modality": "CT",
    "Disease": "Lung cancer",
    "OrganBiomarker": {"OrganObject": "Lung", "OrganDim": "volume", "OrganQuant": "3 l"},
    "AnomalyBiomarker": {"AnomalyObject": "Nodule", "AnomalyDim": "size", "AnomalyQuant": "9 mm"},
    "Indicator": {"Name": "Fleischner", "Value": "high"},
    "Report": {"Finding": "A nodule.", "Impression": "Cancer."},
    "Treatment": "Resect.",
}
PAIR = ("Chest", "CT")


def sample(chain: str, answer: str = "The lung holds a nodule.") -> Sample:
    return Sample(Problem(f"r/{chain}", "?"), {"chain": chain, "answer": answer}, {"record": RECORD, "chain": chain})


BASELINE: tuple[tuple[Any, ...], ...] = (
    (AC,), (MC,), (OS,), (AD,), (DD,), (DI,), (BQ, "Organ"), (BQ, "Anomaly"), (IE, "Organ"), (IE, "Anomaly"),
    (RG, "Text and Mask"), (TR,),
)  # fmt: skip


def tools(*extra: tuple[Any, ...], switches: Switches = PAPER, leave_out: Sequence[str] = ()) -> tuple[ToolSpec, ...]:
    """Specs of TOOL1, TOOL2, ...: the baseline's and ``extra`` ones (arguments of ``card``)."""
    rows = [row for row in BASELINE if row[0] not in leave_out] + list(extra)
    return tuple(spec(card(*row, switches=switches), f"TOOL{n}") for n, row in enumerate(rows, 1))


def plan(text: str, branch: str = "main") -> Step:
    return Step("plan", "main", branch, 0, 0, (), Message("assistant", text), Usage())


def act(
    *calls: tuple[str, str | None] | tuple[str, str | None, str],
    purpose: str = "",
    unreadable: bool = False,
    branch: str = "main",
    committed: bool = True,
    asked_as: Purpose = "act",
) -> Step:
    """A step with calls of (tool, category[, error]); a type stands before the category, as in ``Organ|...``."""
    reply = Message("assistant", "reply")
    made = tuple(ToolCall(f"c{n}", call[0], "{}") for n, call in enumerate(calls))
    action = Action(reply, calls=made, purpose=purpose, error="unparsable_reply" if unreadable else None)
    step = Step(asked_as, "main", branch, 0, 0, (), reply, Usage(), action=action, committed=committed)
    for one, call in zip(made, calls, strict=True):
        variant, _, category = (call[1] or "").rpartition("|")
        data = {"category": category, "variant": variant or None} if call[1] else {}
        step.observed.append(Observed(one, Observation("", data), error=call[2] if len(call) > 2 else None))
    return step


def episode(
    steps: Sequence[Step], stop: str = "answered", answer: str | None = None, kind: str = "baseline", **rest: Any
) -> Trajectory:
    facts = {"condition": kind, "kind": kind.split("_")[0], **rest.pop("facts", {})}
    offered = rest.pop("offered", tools())
    return Trajectory(list(steps), offered, facts, stop, answer, **rest)  # type: ignore[arg-type]


def refused(**grounds: str) -> Refusal:
    return Refusal({"purpose": "say why", **grounds})


def exact(chain: str, **rest: Any) -> Trajectory:
    """An episode that follows the chain."""
    steps = [plan(plan_of(chain))]
    offered = rest.setdefault("offered", tools())
    for category, variant in TASKS[chain].chain:
        found = next(t for t in offered if t.facts["category"] == category and variant in (None, t.facts["variant"]))
        steps.append(act((found.name, f"{variant or ''}|{category}" if variant else category)))
    return episode(steps, answer=rest.pop("answer", "The lung holds a nodule."), **rest)
