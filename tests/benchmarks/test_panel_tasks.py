"""The server's panel understands the prompts that it is sent; waves are counted from a record."""

import orjson

from benchmarks.panel_tasks import AGREED, DISPUTED, asked, numbered, said, waves, waves_of
from components.prompts import load
from tests.panels import calls_needed
from tests.table import each_row

ASKED = {
    "convene_question": "experts", "convene_option": "pair", "analyse_question": "analysis",
    "analyse_option": "analysis", "report": "report", "vote": "vote", "advise": "advice", "revise": "revision",
    "decide": "decision",
}  # fmt: skip
SHOWN = {
    "question": "What next?", "options": "A) Biopsy\nB) Rest", "field": "Surgery",
    "report": said(AGREED)["report"], "material": said(AGREED)["report"],
    "analyses": [{"side": "option", "field": "Surgery", "text": said(AGREED)["analysis"]}],
    "advice": [{"field": "Surgery", "text": said(AGREED)["advice"]}],
}  # fmt: skip


@each_row("template, kind", ASKED.items())
def test_every_prompt_gets_a_reply_in_its_format(template: str, kind: str) -> None:
    text = load("medagents").render(template, wanted=2 if "option" in template else 5, **SHOWN)
    body = orjson.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 50})
    assert asked(body) == kind


def test_bare_loops_make_as_many_calls_as_the_panel() -> None:
    assert sum(wave.calls for wave in waves(AGREED)) == calls_needed("consultation", 5, 2, [0])
    assert sum(wave.calls for wave in waves(DISPUTED)) == calls_needed("consultation", 5, 2, [7, 7, 7])


def test_waves_are_the_longest_chain_of_dependent_calls() -> None:
    steps = [(0.0, 1.0), (0.0, 1.2), (1.2, 1.0), (1.2, 1.1), (2.3001, 0.5)]
    assert waves_of({"started": start, "seconds": long} for start, long in steps) == 3
    assert waves_of([]) == 0


def test_numbered_replies_differ_and_keep_their_length() -> None:
    reply = said(AGREED)["report"].encode()
    assert numbered(reply, 1) != numbered(reply, 2) and len(numbered(reply, 7)) == len(reply)
