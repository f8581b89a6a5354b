"""A critic's sentences, the templates they go into, and slips that are rarer only where the templates contain them."""

import re

from components.core.messages import Message
from components.prompts import load
from components.radiology.agent import Radagent
from components.radiology.simulated.stages import ADVICE, LEFT, MARKS, eased, replied, spared
from components.radiology.tasks import PLANNING_NAMES, TASKS
from components.simulation.draws import Draws, Rates
from tests.golden.vectors import PAPER
from tests.simulated import asked
from tests.slow import slow
from tests.table import each_row

PLAN = "Answer with Tool Chain: [*first tool* -> ...]"
TOOLS = "Now execute.\n\n{{ instructions }}"
RIGHT = "The right steps: Anatomy Classifier -> Modality Classifier -> Disease Diagnoser"
REFUSE = "\nThe right end: a refusal, since no tool that is offered can do one of these steps (ability: x)"
AC, MC, DD = ("*Anatomy Classification Tool*", "*Modality Classification Tool*", "*Disease Diagnosis Tool*")


def attempt(*names, ended="answered"):
    return f"[plan] Tool Chain: [{' -> '.join(names)}]\n\nIt ended: {ended}\n{RIGHT}"


def critique(*attempts, plan=PLAN):
    given = {"templates": [("plan", plan), ("tools", TOOLS)], "failures": attempts, "played": 9, "failed": 3}
    return replied(asked([load("refine_prompts").user("critique", **given)]))


def rewritten(name, text, said):
    given = {"slots": [], "needs": [], "refused": None}
    return replied(asked([load("refine_prompts").user("rewrite", name=name, text=text, critique=said, **given)]))


@each_row(
    "failure, kind, home",
    [
        (attempt(AC, DD), "drop", "plan"),
        (attempt(AC, MC, DD, DD), "add", "plan"),
        (attempt(MC, AC, DD), "swap", "plan"),
        (attempt(AC, MC, DD, ended="failed (binding_mismatch): x"), "tool", "tools"),
        (attempt(AC, MC, DD, ended="failed (unparsable_reply): x"), "form", "tools"),
        (attempt(AC, MC, DD, ended="failed (binding_mismatch): x") + REFUSE, "refuse", "tools"),
        (attempt(AC, MC, DD) + REFUSE, "refuse", "tools"),
    ],
)
def test_a_mistake_is_read_off_the_attempt_and_named_where_it_belongs(failure, kind, home):
    said = critique(failure)
    assert said == f"- In {home}: 1 of these attempts went wrong so; it should say: {ADVICE[kind][1]}"
    assert rewritten(home, "Old.", said) == f"<rewritten>\nOld.\n{ADVICE[kind][1]}\n</rewritten>"
    other = "plan" if home == "tools" else "tools"
    assert rewritten(other, "Old.", said) == "<rewritten>\nOld.\n</rewritten>", "what is about another stays out"


def test_advice_omits_existing_instructions_and_right_steps():
    assert "nothing in common" in critique(attempt(AC, DD), plan=f"{PLAN} {ADVICE['drop'][1]}")
    assert (
        "nothing in common" in critique(attempt(AC, MC, DD))
        and replied(asked([Message("user", "Which disease?")])) is None
    )
    assert "2 of these" in critique(attempt(AC, DD), attempt(MC, DD)).splitlines()[0]


def test_slips_are_spared_by_the_words_that_warn_of_them_and_by_no_others():
    draws = [Draws(seed, [Message("user", "x")]) for seed in range(400)]
    for kind, (mark, sentence) in ADVICE.items():
        assert mark in sentence
        share = sum(spared(kind, {mark}, one) for one in draws) / len(draws)
        assert abs(share - (1 - LEFT)) < 0.07 and not any(spared(kind, {*MARKS} - {mark}, one) for one in draws)


def test_slips_of_acting_are_rarer_under_these_instructions():
    rates = Rates(wrong_tool=0.5, malformed=0.1)
    assert eased(rates, ()) == rates
    assert eased(rates, {ADVICE["tool"][0]}).wrong_tool == 0.5 * LEFT
    assert eased(Rates(ignored_refusal=0.5), {ADVICE["refuse"][0]}) == Rates(ignored_refusal=0.5 * LEFT)
    assert "nothing in common" in critique(attempt(AC, MC, DD, ended="refused") + REFUSE), "its grounds are its own"
    assert eased(rates, {ADVICE["form"][0]}) == Rates(wrong_tool=0.5, malformed=0.1 * LEFT)


@slow
async def test_a_plan_goes_wrong_more_rarely_under_advice_and_as_often_again_without_it(samples, perform, forgetful):
    first = "1. The anatomy tool and the modality tool"
    advice = "\n".join(ADVICE[kind][1] for kind in ("drop", "add", "swap"))
    sets = {
        "plain": "radagent",
        "advised": forgetful("radagent", "plan", {first: f"{advice}\n{first}"}),
        "reworded": forgetful("radagent", "tools", {"Now execute the plan": "Now, with care, execute the plan"}),
    }
    wrong = {}
    for name, prompts in sets.items():
        trajectories = await perform(samples[:44], agent=Radagent(PAPER, prompts), planning_slip_rate=1.0)
        wrong[name] = sum(
            _chain(trajectory.steps[0].reply.text) != list(TASKS[sample.target["chain"]].chain)
            for sample, trajectory in zip(samples, trajectories, strict=False)
        )
    assert wrong["plain"] == wrong["reworded"] >= 40 and wrong["advised"] <= 16


def _chain(text):
    return [PLANNING_NAMES[name] for name in re.findall(r"\*([\w ]+)\*", text)]
