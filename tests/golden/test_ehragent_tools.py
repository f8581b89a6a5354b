"""Golden vectors of EHRAgent's tools and programs: every ``medagents_ehragent_*.json`` in GOLDEN_DIR (default: here)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from components.ehr.cell import functions
from components.ehr.errors import KINDS, EhrError
from components.ehr.tables import Tables
from tests.components.ehr.ward import in_memory, ward_file

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path.stem: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}
TOOLS = {"LoadDB", "FilterDB", "GetValue", "SQLInterpreter", "Calendar", "Calculate"}
CASE_KEYS = {
    "id", "tool", "table", "conditions", "prefilter", "argument", "name", "sql", "now", "note", "expected", "official_agrees",
}  # fmt: skip
EXPECTED_KEYS = {"row_keys", "value_type", "value", "columns", "n_rows", "rows", "error"}
PROGRAM_KEYS = {"id", "cell", "now", "expected", "note"}
STATUSES = {"ok", "no_answer", "error"}


def of(section: str) -> Iterator[Any]:
    for stem, data in FILES.items():
        for case in data.get(section, ()):
            yield pytest.param(stem, case, id=f"{stem}-{case['id']}")


def quirks() -> Iterator[Any]:
    for stem, data in FILES.items():
        cases = {case["id"]: case for case in data["tool_cases"]}
        for quirk in data["official_quirks"]:
            if quirk["area"] == "tool":
                yield pytest.param(stem, cases[quirk["case"]], quirk["official_result"], id=f"{stem}-{quirk['case']}")


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Tables, Path]]:
    """The tables of each file, in memory and as SQLite."""
    made = {}
    for stem, data in FILES.items():
        tables = {name: (one["columns"], one["types"], one["rows"]) for name, one in data["tables"].items()}
        made[stem] = (in_memory(tables), ward_file(tmp_path_factory.mktemp(stem) / "golden.db", tables))
    return made


def bound(ground: tuple[Tables, Path], clock: str) -> dict[str, Any]:
    return functions(*ground, clock)


def outcome(tool: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a case, in the vocabulary of the vectors. Raises EhrError."""
    name = case["tool"]
    if name == "LoadDB":
        table = tool[name](case["name"])
        return {"columns": list(table.columns), "n_rows": len(table)}
    if name == "SQLInterpreter":
        return {"rows": [list(row) for row in tool[name](case["sql"])]}
    if name == "FilterDB":
        found = tool[name](tool["LoadDB"](case["table"]), case["conditions"])
        return {"row_keys": found["ROW_ID"].tolist()}
    given = [case["argument"]]
    if name == "GetValue":
        table = tool["LoadDB"](case["table"])
        given.insert(0, tool["FilterDB"](table, case["prefilter"]) if case["prefilter"] else table)
    value = tool[name](*given)
    kind = {str: "text", list: "list", int: "number", float: "number"}[type(value)]
    return {"value_type": kind, "value": pytest.approx(value) if kind == "number" else value}


def test_every_vector_is_known() -> None:
    assert FILES, f"no medagents_ehragent_*.json in {FOLDER}"
    for data in FILES.values():
        for case in data["tool_cases"]:
            assert case["tool"] in TOOLS and not set(case) - CASE_KEYS and not set(case["expected"]) - EXPECTED_KEYS
            assert case["expected"].get("error", {"kind": KINDS[0]})["kind"] in KINDS
        for case in data["program_cases"]:
            assert not set(case) - PROGRAM_KEYS and case["expected"]["status"] in STATUSES


@pytest.mark.parametrize(("stem", "case"), list(of("tool_cases")))
def test_tool(stem: str, case: dict[str, Any], grounds: Mapping[str, tuple[Tables, Path]]) -> None:
    tool, expected = bound(grounds[stem], case.get("now") or FILES[stem]["now"]), case["expected"]
    if "error" not in expected:
        assert outcome(tool, case) == expected
        return
    with pytest.raises(EhrError) as caught:
        outcome(tool, case)
    message, wanted = str(caught.value), expected["error"]
    assert caught.value.kind == wanted["kind"]
    assert not [mention for mention in wanted["mentions"] if mention not in message]
    proposed = message.partition("nearest values are ")[2]
    places = [proposed.index(f"`{value}`") for value in wanted.get("suggestions_in_order", ())]
    assert places == sorted(places)


@pytest.mark.parametrize(("stem", "case", "official"), list(quirks()))
def test_published_defects_are_not_repeated(
    stem: str, case: dict[str, Any], official: dict[str, Any], grounds: Mapping[str, tuple[Tables, Path]]
) -> None:
    try:
        found = outcome(bound(grounds[stem], case.get("now") or FILES[stem]["now"]), case)
    except EhrError:
        found = {"raises": True}
    assert not all(name in found and found[name] == value for name, value in official.items())


@pytest.mark.parametrize(("stem", "case"), list(of("program_cases")))
def test_program(stem: str, case: dict[str, Any], grounds: Mapping[str, tuple[Tables, Path]]) -> None:
    names, expected = bound(grounds[stem], case["now"]), case["expected"]
    if expected["status"] == "error":
        with pytest.raises(EhrError) as caught:
            exec(case["cell"], names)
        assert caught.value.kind == expected["error_kind"]
        return
    exec(case["cell"], names)
    assert ("answer" in names) == (expected["status"] == "ok")
    if expected["status"] == "ok":
        assert str(names["answer"]) == expected["answer"]
