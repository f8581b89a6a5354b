"""The golden vectors of RadABench: every ``radabench_*.json`` in the folder GOLDEN_DIR (default: this one).

An unknown top key or kind of unit fails, so that no vector goes unread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from components.core.types import Problem, Sample
from components.radiology.cards import Card, card
from components.radiology.study import Vocabulary
from components.radiology.switches import Switches

CODE = Switches(
    category_typing="mixed_code", plan_reader="code_line", known_info="per_condition", indicator_name="never",
    indicator_value_optional=False, rerun_value="placeholder", enforce_restriction="off", regular_variant="code_12",
    medium_variant="code", config2_variant="code_17", register_inferencer=False, tool_order="construction",
    max_steps=None, real_plan_reply=False, fdr_denominator="max_len", tma_mode="longest_run",
    planning_scope="success_only", pfsp_counts_failing_call=True, pfsp_clip=False, ots_mode="code_list",
    ots_include_single=True, mhr_counts_failing_call=True, mhr_table="code", conclusion_scope="first_paragraph",
    error_detection="substring", ugr_mode="code", patient_info_in_plan=False, text_metrics="code",
)  # fmt: skip
PAPER = Switches()

TOP_KEYS = {
    "format", "version", "readme", "tolerance", "entities", "records", "qa", "toolsets", "trajectories", "units",
}  # fmt: skip
KINDS = {
    "tool_cards", "tool_exec", "toolset_sizes", "step_parse", "plan_parse", "start_state", "chain_metrics",
    "text_metrics", "optimal_tool_score_code", "aggregates", "significance",
}  # fmt: skip


@dataclass(frozen=True)
class Vectors:
    """One file of vectors."""

    path: Path
    data: Mapping[str, Any]

    @property
    def tolerance(self) -> float:
        return float(self.data["tolerance"])

    def sample(self, record: str, chain: str) -> Sample:
        """The sample of a record and a task, with the file's vocabulary."""
        question = self.data["qa"].get(record, {}).get(chain, {"Q": "?", "A": ""})
        return Sample(
            Problem(f"{record}/{chain}", question["Q"]),
            {"chain": chain, "answer": question["A"]},
            {
                "record": self.data["records"][record],
                "chain": chain,
                "vocabulary": Vocabulary(self.data["entities"], {}),
            },
            cluster=record,
        )


@dataclass(frozen=True)
class Unit:
    """One vector and the file it stands in."""

    kind: str
    id: str
    data: Mapping[str, Any]
    vectors: Vectors


@lru_cache
def dev() -> Vectors:
    """The file next to this one, whatever GOLDEN_DIR is; for tests that need records."""
    path = Path(__file__).parent / "radabench_dev.json"
    return Vectors(path, orjson.loads(path.read_bytes()))


@lru_cache
def all_vectors() -> tuple[Vectors, ...]:
    """Every file. Raises ValueError for a file with what this reader does not know."""
    folder = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
    files = [Vectors(path, orjson.loads(path.read_bytes())) for path in sorted(folder.glob("radabench_*.json"))]
    if not files:
        raise ValueError(f"no radabench_*.json in {folder}")
    for one in files:
        if unknown := set(one.data) - TOP_KEYS:
            raise ValueError(f"{one.path}: unknown top keys {sorted(unknown)}")
        if unknown := set(one.data.get("units", {})) - KINDS:
            raise ValueError(f"{one.path}: unknown kinds of units {sorted(unknown)}")
    return tuple(files)


def units(kind: str) -> Iterator[Unit]:
    """All vectors of a kind: one of the units' kinds, or ``trajectories``."""
    if kind not in KINDS | {"trajectories"}:
        raise ValueError(f"unknown kind {kind!r}")
    for one in all_vectors():
        found = one.data.get("trajectories", []) if kind == "trajectories" else one.data.get("units", {}).get(kind, [])
        for number, data in enumerate(found):
            yield Unit(kind, f"{one.path.stem}-{data.get('id', number)}", data, one)


def golden_card(data: Mapping[str, Any], switches: Switches = CODE) -> Card:
    """The card that a vector describes; both null and Universal mean that it is not bound."""
    bound = data["anatomy"] not in (None, "Universal")
    pair = (data["anatomy"], data["modality"]) if bound else None
    return card(data["category"], data["variant"], pair, data.get("supported"), switches=switches)
