"""Prompts are recognised by the templates themselves, reworded or not."""

from components.ehr import simulated as ehr
from components.panel import simulated as panel
from components.prompts import load
from components.prompts.recognition import fixed, rendered_from

DECLARED = (*(f"medagents/{one}" for one in panel._REPLIES), *ehr._REPLIES)


def test_a_message_is_recognised_by_half_of_what_its_template_always_writes():
    text = load("medagents").render("vote", report="B.", field="Surgery")
    assert rendered_from(text, "medagents/advise", "medagents/vote") and not rendered_from(text, "medagents/advise")
    assert rendered_from(text.replace("This is the panel's report:", "Look:"), "medagents/vote")
    assert not rendered_from("YES or NO?", "medagents/vote")


def test_every_branch_and_what_is_included_counts():
    choices = {"A": "gout", "B": "scurvy"}
    assert len(fixed("medagents/decide")) == 2
    for options in ("", str(choices)):
        assert rendered_from(load("medagents").render("decide", material="x", options=options), "medagents/decide")
    assert fixed("react/conclude") == fixed("_shared/conclude")


def test_no_other_prompt_that_a_family_declares_is_taken_for_it():
    for template in DECLARED:
        other = [one for one in DECLARED if one != template]
        assert not any(rendered_from("\n".join(lines), *other) for lines, _ in fixed(template)), template
