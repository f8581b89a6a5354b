"""Texts of others stay texts: in prompts, replies, tool results, ids, tables, on the terminal, in files."""

import json
import os
import re

import orjson
import pytest
from aiohttp import web

from components.models.simulated.serve import ChatRequest, Server
from tests.acceptance.command import Served, counted, endpoint, here, told
from tests.acceptance.own import HOSTILE, IDS, Trickster
from tests.slow import slow

FILES = {"config.yaml", "manifest.json", "metrics.json", "records.jsonl", "report.md", "run.log"} | {
    f"texts-{n:04}.jsonl.gz" for n in range(2)
}
KINDS = {
    "tools": ("agent=react", "toolset=leaflets", "agent.grammar=native_tools"),
    "no tools": ("agent=direct",),
    "brackets": ("agent=react", "toolset=leaflets", "agent.grammar=bracket_json", "budget.sample.steps=3"),
}


class Careless(Server):
    """Sends half surrogates, as some small servers do."""

    async def _answer(self, asked: ChatRequest) -> web.Response:
        said = self.model.core.reply(asked.messages, asked.tools, asked.seed)
        message = {"role": "assistant", "content": said.message.content}
        if said.message.tool_calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in said.message.tool_calls
            ]
        self.seen["answered"] += 1
        reply = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}  # fmt: skip
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Kind -> working folder and how the run over the traps ended; the one with tools is played again and resumed."""
    cwds, ended = {}, {}
    for kind in KINDS:
        cwds[kind] = tmp_path_factory.mktemp("hostile") / "deeper"
        cwds[kind].mkdir()
    with Served(Careless(Trickster())) as served:
        words = {kind: ("tracking=off", "dataset=traps", *KINDS[kind], *endpoint(served.url)) for kind in KINDS}
        ended |= {kind: here(cwds[kind], *words[kind]) for kind in KINDS}
    cwds["replayed"] = cwds["resumed"] = cwds["tools"]
    ended["replayed"] = here(cwds["tools"], *words["tools"], "run.replay=true", "hydra.run.dir=again")
    kept = counted(cwds["tools"] / ended["tools"].folder) if ended["tools"].code == 0 else {}
    ended["resumed"] = here(cwds["tools"], *words["tools"], "run.resume=last")
    return {kind: (cwds[kind], ended[kind]) for kind in ended} | {"kept": kept}


@pytest.fixture(params=list(KINDS))
def hostile(request, runs):
    return runs[request.param]


def well_formed(text):
    """As it can be sent: half surrogates replaced."""
    return text.encode("utf-8", "replace").decode()


@slow
def test_every_trap_is_played_to_its_end(hostile):
    _, done = hostile
    assert done.code == 0, done.err + done.out
    records = told(done.folder)
    assert {record["sample_id"] for record in records} == set(IDS)
    assert all(record["stop"] in ("answered", "limit") for record in records)


def test_what_was_asked_is_the_question_as_it_is_written(hostile):
    _, done = hostile
    by_id = {record["sample_id"]: record for record in told(done.folder)}
    for name, text in zip(IDS, HOSTILE, strict=True):
        asked = "\n".join(message["text"] for message in by_id[name]["steps"][0]["asked"])
        assert f"{well_formed(text)}\nIs it so?" in asked


def test_nothing_of_others_was_evaluated(hostile):
    _, done = hostile
    written = "\n".join(json.dumps(record, ensure_ascii=False) for record in told(done.folder))
    for evaluated in ("49", os.environ["HOME"] + " ", "uid="):
        assert evaluated not in written.replace("patient", "")


def test_text_that_looks_like_a_tool_call_is_none(runs):
    _, done = runs["no tools"]
    assert not any(step.get("observed") for record in told(done.folder) for step in record["steps"])


def test_a_tool_that_does_not_exist_is_an_observation_and_never_the_end(runs):
    _, done = runs["tools"]
    for record in told(done.folder):
        seen = [one for step in record["steps"] for one in step.get("observed", ())]
        assert {one.get("error") for one in seen} == {None, "unknown_tool"}
        assert [one["text"] for one in seen if "error" not in one][: len(HOSTILE)] == [well_formed(t) for t in HOSTILE]


def test_the_terminal_shows_no_control_characters(hostile):
    _, done = hostile
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", done.out + done.err)
    assert "Traceback" not in done.out + done.err


def test_ids_are_never_used_as_paths(hostile):
    cwd, done = hostile
    assert {path.name for path in done.folder.iterdir()} <= FILES
    assert {path.name for path in cwd.iterdir()} <= {"again", "outputs"}
    assert [path.name for path in cwd.parent.iterdir()] == ["deeper"]


def test_files_are_valid_and_tables_keep_their_columns(hostile):
    _, done = hostile
    for name in ("manifest.json", "metrics.json"):
        orjson.loads((done.folder / name).read_bytes())
    report = (done.folder / "report.md").read_text()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", report)
    for block in re.split(r"\n\s*\n", report):
        lines = [line for line in block.split("\n") if line.startswith("|")]
        if lines:
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, block
            assert lines == block.strip("\n").split("\n")


def test_replay_gives_the_same_records(runs):
    cwd, done = runs["replayed"]
    assert done.code == 0, done.err + done.out
    assert told(cwd / "again") == told(runs["tools"][1].folder)
    assert counted(cwd / "again")["calls"]["sent"] == 0


def test_a_resumed_run_knows_its_samples_by_their_ids(runs):
    _, done = runs["resumed"]
    assert done.code == 0, done.err + done.out
    assert runs["kept"]["calls"]["sent"] > 0
    assert counted(runs["tools"][1].folder)["calls"]["sent"] == runs["kept"]["calls"]["sent"], "nothing was asked again"
    assert len(told(runs["tools"][1].folder)) == len(IDS)
