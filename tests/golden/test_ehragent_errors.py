"""The text of a cell's exception: the error cases of every ``medagents_ehragent_*.json``, through the real sandbox.

The kinds that are not read here belong to other tests of this folder; a kind that none of them knows fails there.
"""

import asyncio
import os
from pathlib import Path

import orjson
import pytest

from components.sandbox import Library, Sandbox

FOLDER = Path(os.environ.get("GOLDEN_DIR") or Path(__file__).parent)
FILES = {path: orjson.loads(path.read_bytes()) for path in sorted(FOLDER.glob("medagents_ehragent_*.json"))}
CASES = {f"{path.stem}-{case['id']}": case for path, data in FILES.items() for case in data.get("error_cases", [])}
QUIRKS = {
    f"{path.stem}-{quirk['case']}": quirk["official_result"]
    for path, data in FILES.items()
    for quirk in data.get("official_quirks", [])
    if quirk["area"] == "error_trace"
}
FIELDS = {"error_type", "line_no", "line", "message_contains"}


@pytest.fixture(scope="module", autouse=True)
def errors():
    """The exception of each case's cell."""
    found = {}

    async def run_all(sandbox):
        session = sandbox.open(Library("components.sandbox.probe", {}))
        for name, case in CASES.items():
            found[name] = (await session.run(case["cell"])).error

    sandbox = Sandbox()
    asyncio.run(run_all(sandbox))
    sandbox.close()
    FOUND.update(found)


FOUND = {}


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=CASES)
def test_type_message_and_line_are_those_of_the_cell(name, case):
    expected, error = case["expected"], FOUND[name]
    assert set(case) == {"id", "cell", "expected"} and set(expected) == FIELDS, sorted(expected)
    assert error is not None, "the cell raised nothing"
    assert (error.type, error.line_no, error.line) == (
        expected["error_type"], expected["line_no"], expected["line"],
    ), error  # fmt: skip
    assert expected["message_contains"] in error.message, error.message


def test_published_defects_of_the_error_text_are_not_reproduced():
    for name, published in QUIRKS.items():
        assert name in CASES, f"a quirk of no case: {name}"
        assert FOUND[name].line_no is not None, published
