"""The missing inputs against those named in refusals."""

import json

from runner.results.runs import Run
from runner.results.sections import refusals
from runner.results.sheets import Sheet
from tests.runner.results.folders import write
from tests.runner.results.page.pages import cells

LACKING = {"kind": "insufficient", "condition": "some", "ability": "Missing", "accepted": ["Scales", "Rulers"]}
RIGHT, WRONG = {"ability": "Missing", "category": "Rulers", "purpose": "so"}, {"ability": "Weak", "category": "Rulers"}
ENDED = [(LACKING, RIGHT), (LACKING, RIGHT), (LACKING, WRONG), (LACKING, None), ({"kind": "baseline"}, WRONG)]


def run_of(folder, ended):
    """A run whose episodes had these facts and refusals."""
    path = write(folder, {"one": ("k", [1] * len(ended))})
    lines = [json.loads(line) for line in (path / "records.jsonl").read_text().splitlines()]
    for record, (facts, grounds) in zip(lines, ended, strict=True):
        record |= {"facts": facts, "refusal": grounds, "stop": "answered" if grounds is None else "refused"}
    (path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Run.at(path)


def test_refusals_are_counted_by_missing_input_and_field(tmp_path):
    found = refusals.refusals([run_of(tmp_path / "a", ENDED)])
    sheets = {part.title: cells(part) for part in found.parts if isinstance(part, Sheet)}
    ended = {
        row["missing"]: (row["refused"], row["refused, every field right"]) for row in sheets["How episodes ended"]
    }
    assert ended == {"some": (0.75, 0.5), "nothing": (1.0, None)}
    ability = {row["missing"]: row for row in sheets["ability: missing against named"]}
    assert (ability["Missing"]["right"], ability["Missing"]["Weak"], ability["Missing"]["no refusal"]) == (0.5, 1, 1)
    assert ability["nothing"]["Weak"] == 1
    (shares,) = (rows for title, rows in sheets.items() if "shares of what was named" in title)
    assert {row["missing"]: row["Weak"] for row in shares} == {"Missing": 0.25, "nothing": 1.0}
    category = {row["missing"]: row["right"] for row in sheets["category: missing against named"]}
    assert category == {"Scales or Rulers": 0.75, "nothing": None} and len(sheets) == 4, (
        "purpose is not a fact of the sample"
    )


def test_withheld_tools_are_named(tmp_path):
    facts = {"kind": "withhold", "condition": "withhold", "withheld": ["mri"]}
    (sheet,) = refusals.refusals([run_of(tmp_path / "a", [(facts, None), (facts, {"why": "no mri"})])]).parts
    assert [(row["missing"], row["refused"]) for row in cells(sheet)] == [("mri", 0.5)]


def test_no_gaps_and_no_refusals_give_no_section(tmp_path):
    assert refusals.refusals([run_of(tmp_path / "a", [({"kind": "baseline"}, None)])]) is None
