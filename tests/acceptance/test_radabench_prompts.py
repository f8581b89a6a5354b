"""RadABench's base and refined prompts as sent: no rule of the refined set is in a base message.

Source of the rules: Zheng et al. 2024 (arXiv 2412.09529) and its supplement; docs/papers/radabench.md has the table.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import get_args

import pytest

from components.core.types import Step
from components.radiology.agent import Radagent, Strategy
from components.verifiers.reflect import Reflect
from tests.acceptance.test_radabench import episodes, few, parts
from tests.golden.vectors import CODE, PAPER
from tests.slow import slow
from tests.table import each_row

pytestmark = slow

PROFILES = {"paper": PAPER, "code": CODE}
CONDITIONS = ("baseline", "redundant_regular", "differentiated", "insufficient_config1", "insufficient_config3")
STRATEGIES = get_args(Strategy)
SUBSETS = [names for n in range(5) for names in combinations(STRATEGIES, n)]
BASE = [names for names in SUBSETS if "refined_prompts" not in names]
CHAINS = ("012", "012356789")  # the shortest and the longest
# Rules of the refined prompts only, in any wording; each has a wording that the base prompts once had.
REFINED: Mapping[str, tuple[str, str]] = {
    "one name for both measurements": (r"(?<!Organ )(?<!Anomaly )Biomarker Quantification Tool", "Biomarker Quantification Tool"),
    "what each tool does, and when to use it": (
        r"Use when|^- [A-Z][\w ]+ Tool[:.] ", "- Organ Segmentation Tool: outlines the organ"
    ),
    "anatomy and modality always first": (r"first in every chain|always, as the first", "They come first in every chain."),
    "no redundant tools": (
        r"redundan|superfluous|strike out|needless|no call that|(?i:only) (the )?tools|only when asked",
        "Take only tools that the question needs; measurements only when asked for.",
    ),
    "treatment needs comprehensive calling before": (
        r"(?i)treatment[^.\n]*\b(work-up|comprehensive|needs|after|first)|(?i:work-up)",
        "Work that rests on clues (reports, treatment) needs organ and abnormality first.",
    ),
    "a report is never known": (
        r"(?i)\breport[^.\n]*(never|beforehand|not)[^.\n]*|never list", "A report and a treatment are never known beforehand."
    ),
    "only the requested format": (
        r"(?i)nothing (but|else|before)|\b(answer|lines|object) (alone|asked for)|no comment", "Write nothing but the two lines."
    ),
}  # fmt: skip
BASE_CONCLUSION = ("concise answer", "key supporting evidence", "how the findings align with the plan")


@cache
def sample_texts() -> tuple[str, ...]:
    """Texts of the evaluated samples, which are not instructions."""
    asked = [one for profile in PROFILES for one in few(profile)]
    return tuple(text for one in asked for text in (one.problem.question, one.problem.context) if text)


async def calls(profile: str, condition: str, names: Sequence[str]) -> list[Step]:
    """All calls of two episodes; each with its new messages, as the simulated core received them."""
    agent, house = Radagent(PROFILES[profile], strategies=names, reflector=Reflect()), parts(profile, condition)
    house = replace(house, agent=agent, verifier=agent.requirements.verifier or house.verifier)
    chosen = [next(one for one in few(profile) if one.metadata["chain"] == chain) for chain in CHAINS]
    found = await episodes(house, chosen, ignored_refusal_rate=1.0)
    return [step for one in found for step in one.trajectory.steps]


def instructions(steps: Sequence[Step], names: Sequence[str]) -> str:
    """The instructions in the prompts: without questions, patients, replies, examples, tool cards, and the lines in which
    self-reflection asks for its own checks."""
    texts = [message.text for step in steps for message in step.asked if message.role != "assistant"]
    kept: list[str] = []
    for text in texts:
        for known in sample_texts():
            text = text.replace(known, "")
        text = re.sub(
            r"\[Examples? of [^\]]*\].*?(?=\n\nRules:|\n\nHold to this:|\n\n\n\[Query\]|\Z)", "", text, flags=re.DOTALL
        )
        lines = [line for line in text.split("\n") if not line.startswith('{"Name"') and '{"$' not in line]
        if "self_reflection" in names:
            text = "\n".join(line for line in lines if "Self-Reflection" not in line)
            text = re.sub(r"Before every call reflect.*?there is nothing in it\.", "", text, flags=re.DOTALL)
        else:
            text = "\n".join(lines)
        kept.append(text)
    return "\n\n".join(dict.fromkeys(kept))


@each_row("rule", REFINED)
def test_each_rule_pattern_matches_its_wording(rule):
    pattern, once = REFINED[rule]
    assert re.search(pattern, once, re.MULTILINE)


@each_row("condition", CONDITIONS)
@each_row("profile", PROFILES)
async def test_no_refined_rule_is_in_a_message_of_the_base_prompts(profile, condition):
    for names in BASE:
        sent_instructions = instructions(await calls(profile, condition, names), names)
        matches = {
            rule: found[0]
            for rule, (pattern, _) in REFINED.items()
            if (found := re.search(pattern, sent_instructions, re.MULTILINE))
        }
        assert not matches, (names, matches)


@pytest.mark.parametrize("profile", PROFILES)
async def test_every_refined_rule_is_in_the_refined_messages(profile):
    for names in SUBSETS:
        if "refined_prompts" in names:
            sent_instructions = instructions(await calls(profile, "baseline", names), names)
            assert [
                rule
                for rule, (pattern, _) in REFINED.items()
                if not re.search(pattern, sent_instructions, re.MULTILINE)
            ] == []


@each_row("names", SUBSETS)
@each_row("profile", PROFILES)
async def test_base_prompts_ask_for_evidence_and_plan_and_refined_for_the_answer(profile, names):
    steps = await calls(profile, "differentiated", names)
    concluding = next(step for step in steps if step.purpose == "conclude")
    asked = "\n".join(message.text for message in concluding.asked if message.role != "assistant")
    if "refined_prompts" in names:
        assert "the answer alone" in asked and not [one for one in BASE_CONCLUSION if one in asked]
    else:  # a separate concluder is shown the question and the memory, but no plan
        wanted = BASE_CONCLUSION[:2] if "multi_agent" in names else BASE_CONCLUSION
        assert [one for one in BASE_CONCLUSION if one in asked] == list(wanted) and "alone" not in asked
