"""Golden vectors of RadABench's tools, sets, start memory and plan reading, and whole episodes of tool calls."""

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from components.core.errors import ToolError
from components.core.tools import Offer
from components.core.types import Problem, Sample
from components.radiology.cards import Card, spec
from components.radiology.conditions import (
    Baseline,
    Differentiated,
    InsufficientConfig1,
    InsufficientConfig2,
    InsufficientConfig3,
    RedundantHigh,
    RedundantMedium,
    RedundantRegular,
)
from components.radiology.memory import RadiologyMemory, read_inputs, start_memory
from components.radiology.plan import decision_chain, read_known, runtime_plan
from components.radiology.toolset import Radiology, RadiologyTool, run
from tests.golden.vectors import CODE, KINDS, TOP_KEYS, Unit, all_vectors, golden_card, units

CONDITIONS = {
    "baseline": Baseline,
    "redundant_regular": RedundantRegular,
    "redundant_medium": RedundantMedium,
    "redundant_high": RedundantHigh,
    "insufficient_config1": InsufficientConfig1,
    "insufficient_config2": InsufficientConfig2,
    "insufficient_config3": InsufficientConfig3,
    "differentiated": Differentiated,
}


PROBLEM = Problem("p", "q")


@dataclass
class At:
    """The context of a tool call."""

    state: RadiologyMemory
    problem: Problem = PROBLEM


def cases(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("unit", [pytest.param(unit, id=unit.id) for unit in units(kind)])


def numbers(card: Card) -> dict[str, Any]:
    names = ("compulsory", "optional", "outputs", "lower", "upper", "step")
    return {name: card.facts[name] for name in names}


def close(expected: Any, unit: Unit) -> Any:
    return pytest.approx(expected, abs=unit.vectors.tolerance)


def test_every_file_holds_known_keys_and_kinds() -> None:
    for vectors in all_vectors():
        assert set(vectors.data) <= TOP_KEYS and set(vectors.data.get("units", {})) <= KINDS


@cases("tool_cards")
def test_tool_card(unit: Unit) -> None:
    n_listed = unit.data["restricted_to"]
    listed = None if n_listed is None else [f"entry {i}" for i in range(n_listed)]
    found = numbers(golden_card({**unit.data, "supported": listed}))
    expected = unit.data["expected"]
    assert set(expected) <= set(found)
    for name, value in expected.items():
        assert found[name] == (value if isinstance(value, list) else close(value, unit))


@cases("tool_exec")
def test_tool_run(unit: Unit) -> None:
    before, expected = unit.data["before"], unit.data["expected"]
    record = unit.vectors.data["records"][unit.data["record"]]
    memory = RadiologyMemory(record, dict(before["values"]), dict(before["scores"]), dict(before["fixed"]))
    tool = golden_card(unit.data["tool"])
    if expected["outcome"] == "error":
        with pytest.raises(ToolError) as caught:
            run(tool, memory, unit.data["input"], CODE)
        assert caught.value.label == expected["error_reason"]
        assert caught.value.data["error_class"] == expected["error_class"]
        assert (memory.values, memory.scores) == (before["values"], before["scores"])
    else:
        run(tool, memory, unit.data["input"], CODE)
        assert memory.values == expected["values"]
        assert memory.scores == close(expected["scores"], unit)


def offered(unit: Unit) -> tuple[Offer, tuple[str, str]]:
    """The offer of a condition for a record of the unit's pair, or one that is moved to it."""
    data, vectors = unit.data, unit.vectors
    records = vectors.data["records"]
    fitting = (
        name for name, r in records.items() if (r["Anatomy"], r["Modality"]) == (data["anatomy"], data["modality"])
    )
    name = next(fitting, next(iter(records)))
    sample = vectors.sample(name, data["chain"] or "012")
    pair = (data["anatomy"], data["modality"])
    record = {**sample.metadata["record"], "Anatomy": pair[0], "Modality": pair[1]}
    moved = Sample(sample.problem, sample.target, {**sample.metadata, "record": record})
    offer = CONDITIONS[data["condition"]](CODE).offer(Radiology(CODE).open(moved), moved, Random(7))
    return offer, pair


@cases("toolset_sizes")
def test_toolset_size(unit: Unit) -> None:
    offer, pair = offered(unit)
    tools = [tool for tool in offer.tools.values() if isinstance(tool, RadiologyTool)]
    places = [None if t.card.anatomy is None else (t.card.anatomy, t.card.modality) for t in tools]
    found = {
        "total": len(offer.tools),
        "callable": sum(t.registered for t in tools),
        "by_category": dict(Counter(t.card.category for t in tools)),
        "unbound": places.count(None),
        "bound_to_case": places.count(pair),
        "bound_to_other": sum(place not in (None, pair) for place in places),
        "restricted": sum(t.card.supported is not None for t in tools),
    }
    expected = dict(unit.data["expected"])
    lengths = {len(t.card.supported) for t in tools if t.card.supported is not None}
    drawn = expected.pop("restricted_list_lengths", None)
    if drawn is not None:
        most, least = 5, 4 if unit.data["condition"] == "differentiated" else 3
        assert len(lengths) == len(drawn) and all(least <= n <= most for n in lengths)
    assert found == expected


@cases("start_state")
def test_start_memory(unit: Unit) -> None:
    expected = unit.data["expected"]
    record = unit.vectors.data["records"][unit.data["record"]]
    if expected["outcome"] == "error":
        with pytest.raises(ToolError) as caught:
            start_memory(record, unit.data["known"])
        assert caught.value.label == expected["error_reason"]
        assert caught.value.data["error_class"] == expected["error_class"]
    else:
        memory = start_memory(record, unit.data["known"])
        assert (memory.values, memory.scores, memory.fixed) == (
            expected["values"],
            expected["scores"],
            expected["fixed"],
        )


@cases("plan_parse")
def test_plan_reading(unit: Unit) -> None:
    text, expected = unit.data["text"], unit.data["expected"]
    start = ("$Image$", "$Information$")
    assert sorted(read_known(text, "three_dollar")) == sorted(v for v in expected["known_strict"] if v not in start)
    assert sorted(read_known(text, "baseline_bare")) == sorted(v for v in expected["known_baseline"] if v not in start)
    assert runtime_plan(text) == expected["runtime_plan"]
    assert decision_chain(text, "code_line") == expected["decision_chain_code"]
    assert decision_chain(text, "tolerant") == expected["decision_chain_normalised"]


@cases("step_parse")
def test_input_reading_is_stable(unit: Unit) -> None:
    fields = unit.data["expected"]["fields"] or {}
    if "input" in fields:
        assert read_inputs(str(fields["input"])) == fields["input"]


def tools_of(unit: Unit) -> dict[str, RadiologyTool]:
    """The toolset that a trajectory was scripted for, whose cards must be ours."""
    given = unit.vectors.data["toolsets"][unit.data["toolset"]]
    tools = {}
    for data in given["tools"]:
        card = golden_card(data)
        assert {k: v for k, v in data.items() if k != "name"} == card.facts | {
            name: close(data[name], unit) for name in ("lower", "upper", "step")
        }
        tools[data["name"]] = RadiologyTool(spec(card, data["name"]), card, CODE, data["name"] in given["callable"])
    return tools


def places(cards: list[Card], record: dict[str, Any]) -> list[Any]:
    """The tool at each position of a set, except for drawn values."""
    own = (record["Anatomy"], record["Modality"])
    return [
        (
            c.category,
            c.variant if c.category != "Report Generator" else "",
            (c.anatomy, c.modality) == own,
            c.anatomy is None,
            c.supported is not None,
        )
        for c in cards
    ]


@cases("trajectories")
def test_construction_order(unit: Unit) -> None:
    sample = unit.vectors.sample(unit.data["record"], unit.data["chain"])
    offer = CONDITIONS[unit.data["condition"]](CODE).offer(Radiology(CODE).open(sample), sample, Random(1))
    record = dict(sample.metadata["record"])
    ours = {name: tool for name, tool in offer.tools.items() if isinstance(tool, RadiologyTool)}
    theirs = tools_of(unit)
    assert list(ours) == list(theirs)
    assert [t.registered for t in ours.values()] == [t.registered for t in theirs.values()]
    assert places([t.card for t in ours.values()], record) == places([t.card for t in theirs.values()], record)


@cases("trajectories")
async def test_episode_of_tool_calls(unit: Unit) -> None:
    data, expected = unit.data, unit.data["expected"]
    sample = unit.vectors.sample(data["record"], data["chain"])
    offer = CONDITIONS[data["condition"]](CODE).offer(Radiology(CODE).open(sample), sample, Random(1))
    assert isinstance(offer.state, RadiologyMemory)
    at, tools = At(offer.state), tools_of(unit)
    started = await offer.controls["start"](at, plan=data["turns"]["plan"])  # type: ignore[arg-type]
    assert (at.state.values, at.state.scores) == (expected["start"]["values"], expected["start"]["scores"])
    assert started.data["plan"] == expected["runtime_plan"]
    for step in expected["steps"]:
        if step["tag"] not in ("Call", "EndCall"):
            continue
        tool = tools.get(step["fields"]["tool"])
        if tool is None:
            assert step["error_reason"] == "unknown_tool"
        elif step["outcome"] == "error":
            with pytest.raises(ToolError) as caught:
                await tool(at, input=step["fields"]["input"])  # type: ignore[arg-type]
            assert caught.value.label == step["error_reason"]
            assert caught.value.data["error_class"] == step["error_class"]
            assert caught.value.data["category"] == tool.card.category
        else:
            await tool(at, input=str(step["fields"]["input"]))  # type: ignore[arg-type]
            assert at.state.values == step["values"]
            assert at.state.scores == close(step["scores"], unit)
