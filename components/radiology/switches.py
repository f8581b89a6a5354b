"""The switches in which RadABench's article and code differ (docs/papers/radabench.md), a frozen set per profile."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal


@dataclass(frozen=True)
class Switches:
    """Defaults are those of profile ``paper``: the article's definitions, defects repaired."""

    gt_order: Literal["fixed", "free"] = "fixed"
    category_typing: Literal["mixed_code", "untyped", "typed"] = "untyped"
    plan_reader: Literal["code_line", "tolerant"] = "tolerant"
    known_info: Literal["per_condition", "baseline_bare", "three_dollar", "all_dollar"] = "three_dollar"
    indicator_name: Literal["never", "start_for_indicator_tasks"] = "start_for_indicator_tasks"
    indicator_value_optional: bool = True
    rerun_value: Literal["placeholder", "refresh"] = "refresh"
    enforce_restriction: Literal["off", "error"] = "error"
    regular_variant: Literal["code_12", "code_basic_15", "paper_12_15"] = "paper_12_15"
    medium_variant: Literal["code", "paper_backfill"] = "paper_backfill"
    config2_variant: Literal["code_17", "paper_15_17"] = "paper_15_17"
    register_inferencer: bool = True
    tool_order: Literal["construction", "shuffled"] = "shuffled"
    max_steps: int | None = 20
    real_plan_reply: bool = True
    fdr_denominator: Literal["max_len", "generated_len"] = "generated_len"
    tma_mode: Literal["longest_run", "positional"] = "positional"
    planning_scope: Literal["success_only", "all"] = "all"
    pfsp_counts_failing_call: bool = False
    pfsp_clip: bool = True
    ots_mode: Literal["code_list", "paper_steps"] = "paper_steps"
    ots_include_single: bool = False
    mhr_counts_failing_call: bool = False
    mhr_table: Literal["code", "chain_consistent"] = "chain_consistent"
    conclusion_scope: Literal["first_paragraph", "full"] = "full"
    error_detection: Literal["substring", "structured"] = "structured"
    ugr_mode: Literal["code", "strict"] = "strict"
    completion_rule: Literal["target_hit", "chain_cover", "exact_chain"] = "chain_cover"
    patient_info_in_plan: bool = True
    text_metrics: Literal["code", "maintained"] = "maintained"

    def __hash__(self) -> int:
        return hash(self.real_plan_reply)  # there are few, most often compared with themselves


@lru_cache(maxsize=64)
def first_equal(switches: Switches) -> Switches:
    """The first of equal switches: each part is built with its own, and what is remembered by them would compare them
    field by field at every look."""
    return switches
