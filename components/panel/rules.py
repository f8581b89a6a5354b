"""What a panel is told: its size, how far it goes, how long its replies may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge

from components.core.traits import PromptSetName

Level = Literal["analysis", "summary", "consultation"]
Side = Literal["question", "option"]
Tokens = Annotated[int, Ge(1)] | None


@dataclass(frozen=True)
class Lengths:
    """Longest reply of each kind of call, in tokens; None = the model's own limit."""

    experts: Tokens = 50
    analysis: Tokens = 300
    report: Tokens = 2500
    vote: Tokens = 30
    advice: Tokens = 500
    decision: Tokens = 2500


@dataclass(frozen=True)
class PanelRules:
    """``level``: analyses alone, with a report of them, or with votes on it (Table 3 of the article).

    At most ``max_attempts`` rounds of votes; the last revision is not voted on. ``readers``: how replies are read,
    published as the published code does. ``expert_tools``: where tools are offered, each expert acts with them, at
    most ``max_steps`` steps.
    """

    prompts: PromptSetName = "medagents"
    expert_prompts: PromptSetName = "medagents_expert"
    level: Level = "consultation"
    question_experts: Annotated[int, Ge(1)] = 5
    option_experts: Annotated[int, Ge(1)] = 2
    max_attempts: Annotated[int, Ge(1)] = 3
    readers: Literal["repaired", "published"] = "repaired"
    expert_tools: bool = True
    max_steps: Annotated[int, Ge(1)] | None = 15
    max_tokens: Lengths = field(default_factory=Lengths)
