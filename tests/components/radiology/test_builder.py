from random import Random
from types import SimpleNamespace

import pytest

from components.core.errors import ToolError
from components.radiology.builder import builder, read_request
from components.radiology.conditions import InsufficientConfig1, InsufficientConfig2, InsufficientConfig3
from components.radiology.tasks import CATEGORIES, TASKS
from components.radiology.toolset import Radiology, run
from tests.golden.vectors import PAPER, dev
from tests.table import each_row

VECTORS = dev()
CONDITIONS = (InsufficientConfig1, InsufficientConfig2, InsufficientConfig3)


class Taking:
    """A context that takes tools."""

    def __init__(self):
        self.tools = {}

    def add(self, tool):
        if tool.spec.name in self.tools:
            raise ToolError("taken", "name_taken")
        self.tools[tool.spec.name] = tool


def offered(condition, chain, sample="dev_limb_xray"):
    found = VECTORS.sample(sample, chain)
    return condition(PAPER).offer(Radiology(PAPER).open(found), found, Random(1)), found


def wording(offer, category=None):
    """A request that says all that is missing."""
    control = offer.controls["build"]
    anatomy, modality = control.place or ("Limb", "X-ray")
    category = category or control.missing[0]
    kind = f"{control.kind} " if control.kind and category == control.missing[0] else ""
    return (
        f"Category: {kind}{category}\nModality: {modality}\nAnatomy: {anatomy}\nLabels: {control.entity}\nRange: whole"
    )


async def asked(offer, text):
    context = Taking()
    seen = await offer.controls["build"](context, request=text)
    return seen.data["build"], context.tools


@each_row("condition", CONDITIONS)
@each_row("chain", TASKS)
async def test_naming_the_missing_tool_gives_the_unbound_unrestricted_tool(condition, chain):
    offer, _ = offered(condition, chain)
    facts, tools = await asked(offer, wording(offer))
    assert facts["specified"] and facts["passed"] and facts["mode"] == "simulated"
    tool = tools[f"TOOL{len(offer.tools) + 1}"]
    assert (tool.card.category, tool.card.anatomy, tool.card.supported) == (
        offer.controls["build"].missing[0], None, None,
    )  # fmt: skip
    assert tool.spec.facts["built"] and facts["card"] == tool.spec.card_text and tool.registered


@each_row("condition", CONDITIONS)
@each_row("chain", TASKS)
async def test_no_other_category_is_ever_built(condition, chain):
    offer, _ = offered(condition, chain)
    for category in set(CATEGORIES) - set(offer.controls["build"].missing):
        facts, tools = await asked(offer, wording(offer, category))
        assert not facts["specified"] and not facts["passed"] and not tools and "missing is" in facts["reason"]


async def test_the_case_of_the_article_scores_076():
    offer, _ = offered(InsufficientConfig1, "0123", "dev_chest_ct")
    _, tools = await asked(offer, "I need an organ segmentation tool for chest CT images.")
    (tool,) = tools.values()
    memory = offer.state
    for name in ("Anatomy Classifier", "Modality Classifier"):
        one = next(t.card for t in offer.tools.values() if t.card.category == name)
        run(one, memory, one.compulsory, PAPER)
    assert run(tool.card, memory, tool.card.compulsory, PAPER) == pytest.approx(0.80 * 0.95)


async def test_the_place_must_be_named_where_tools_for_others_are_offered():
    offer, _ = offered(InsufficientConfig2, "012")
    said = wording(offer)
    anatomy, modality = offer.controls["build"].place
    for text in (said.replace(anatomy, "Spine"), said.replace(modality, "MRI"), "Category: Organ Segmentor"):
        facts, tools = await asked(offer, text)
        assert not facts["specified"] and f"does not ask for {anatomy} {modality}" in facts["reason"] and not tools


async def test_the_entity_must_be_named_where_lists_lack_it():
    offer, _ = offered(InsufficientConfig3, "012")
    entity = offer.controls["build"].entity
    facts, _ = await asked(offer, wording(offer).replace(entity, "something"))
    assert facts["reason"] == f"does not name {entity}"
    assert (await asked(offer, wording(offer).replace(entity, entity.upper())))[0]["passed"]


async def test_the_other_type_is_not_what_is_missing():
    offer, _ = offered(InsufficientConfig1, "0126")
    facts, tools = await asked(offer, "Category: Anomaly Biomarker Quantifier")
    assert facts["reason"] == "asks for Anomaly, missing is the one for Organ" and not tools
    _, tools = await asked(offer, "Category: Biomarker Quantifier")
    assert [tool.card.variant for tool in tools.values()] == ["Organ"]


async def test_there_is_one_tool_for_each_missing_category():
    offer, _ = offered(InsufficientConfig1, "0123568")
    context, control = Taking(), offer.controls["build"]
    accepted = [
        (await control(context, request=f"Category: {name}")).data["build"]["passed"]
        for name in ("Disease Diagnoser", "Disease Inferencer", "Disease Diagnoser")
    ]
    assert accepted == [True, True, False] and len(context.tools) == 2


async def test_an_evaluator_is_built_for_what_the_request_names():
    offer, _ = offered(InsufficientConfig3, "01235678")
    entity = offer.controls["build"].entity
    for kind in ("Organ", "Anomaly"):
        _, tools = await asked(offer, f"Category: {kind} Indicator Evaluator\nLabels: {entity}")
        assert [tool.card.variant for tool in tools.values()] == [kind]


READ = {
    "in a sentence": ("Please build an organ segmentor for head and neck MRI scans.", "Organ Segmentor", "head and neck", "mri"),
    "by a planning name": ("A Report Generation Tool for Breast Mammography", "Report Generator", "breast", "mammography"),
    "in the plural": ("we lack disease diagnosers", "Disease Diagnoser", "", ""),
    "by its line": ("We have a Report Generator.\n**Category**: Organ Segmentor", "Organ Segmentor", "", ""),
    "by its number": ("Report Generator?\n1. **Category:** Organ Segmentor\n2) Anatomy: Limb", "Organ Segmentor", "limb", ""),
    "after much white space": ("\n" * 10**5 + " CT", None, "", "ct"),
    "not at all": ("I need help with a CT", None, "", "ct"),
    "in another word": ("an impact on the chesty", None, "", ""),
}  # fmt: skip


@each_row("text, category, anatomy, modality", READ.values())
def test_a_request_is_read_from_lines_or_from_the_text(text, category, anatomy, modality):
    found = read_request(text)
    assert (found.category, found.anatomy, found.modality) == (category, anatomy, modality)


def test_it_knows_only_the_facts_it_is_given():
    study = SimpleNamespace(pair=("Limb", "X-ray"), own=lambda entity: "femur")
    facts = {"argument": "Organ", "ability": "InsufficientCapability", "accepted": ["Organ Segmentor"]}
    made = builder(study, facts, 18, PAPER)
    assert (made.entity, made.place, made.kind, made.first) == ("femur", None, None, 19)
