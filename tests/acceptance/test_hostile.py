"""Third-party texts are never interpreted: in prompts, replies, tool results, ids, tables, on the terminal, in files."""

import json
import os
import re

import orjson
import pytest
from aiohttp import web

from components.models.simulated.serve import ChatRequest, Server
from tests.acceptance.command import Served, endpoint, read_manifest, read_records, run_in_process
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
    """Sends lone surrogates, as some small servers do."""

    async def _answer(self, asked: ChatRequest, request: web.Request) -> web.StreamResponse:
        answer = self.model.core.reply(asked.messages, asked.tools, asked.seed)
        message = {"role": "assistant", "content": answer.message.content}
        if answer.message.tool_calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in answer.message.tool_calls
            ]
        self.seen["answered"] += 1
        reply = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}  # fmt: skip
        return web.Response(body=json.dumps(reply).encode(), content_type="application/json")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Kind -> working folder and outcome of the run over hostile samples; the one with tools is replayed and resumed."""
    cwds, ended = {}, {}
    for kind in KINDS:
        cwds[kind] = tmp_path_factory.mktemp("hostile") / "deeper"
        cwds[kind].mkdir()
    with Served(Careless(Trickster())) as served:
        words = {kind: ("tracking=off", "dataset=traps", *KINDS[kind], *endpoint(served.url)) for kind in KINDS}
        ended |= {kind: run_in_process(cwds[kind], *words[kind]) for kind in KINDS}
    cwds["replayed"] = cwds["resumed"] = cwds["tools"]
    ended["replayed"] = run_in_process(cwds["tools"], *words["tools"], "run.replay=true", "hydra.run.dir=again")
    kept = read_manifest(cwds["tools"] / ended["tools"].folder) if ended["tools"].code == 0 else {}
    ended["resumed"] = run_in_process(cwds["tools"], *words["tools"], "run.resume=last")
    return {kind: (cwds[kind], ended[kind]) for kind in ended} | {"kept": kept}


@pytest.fixture(params=list(KINDS))
def hostile(request, runs):
    return runs[request.param]


def well_formed(text):
    """The text as it can be sent: lone surrogates replaced."""
    return text.encode("utf-8", "replace").decode()


@slow
def test_every_hostile_sample_is_completed(hostile):
    _, done = hostile
    assert done.code == 0, done.err + done.out
    records = read_records(done.folder)
    assert {record["sample_id"] for record in records} == set(IDS)
    assert all(record["stop"] in ("answered", "limit") for record in records)


def test_request_contains_the_question_verbatim(hostile):
    _, done = hostile
    by_id = {record["sample_id"]: record for record in read_records(done.folder)}
    for name, text in zip(IDS, HOSTILE, strict=True):
        asked = "\n".join(message["text"] for message in by_id[name]["steps"][0]["asked"])
        assert f"{well_formed(text)}\nIs it so?" in asked


def test_third_party_text_is_never_evaluated(hostile):
    _, done = hostile
    written = "\n".join(json.dumps(record, ensure_ascii=False) for record in read_records(done.folder))
    for evaluated in ("49", os.environ["HOME"] + " ", "uid="):
        assert evaluated not in written.replace("patient", "")


def test_text_that_looks_like_a_tool_call_is_not_executed(runs):
    _, done = runs["no tools"]
    assert not any(step.get("observed") for record in read_records(done.folder) for step in record["steps"])


def test_unknown_tool_is_an_observation_and_does_not_end_the_episode(runs):
    _, done = runs["tools"]
    for record in read_records(done.folder):
        seen = [one for step in record["steps"] for one in step.get("observed", ())]
        assert {one.get("error") for one in seen} == {None, "unknown_tool"}
        assert [one["text"] for one in seen if "error" not in one][: len(HOSTILE)] == [well_formed(t) for t in HOSTILE]


def test_terminal_output_has_no_control_characters(hostile):
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


def test_replay_writes_the_same_records(runs):
    cwd, done = runs["replayed"]
    assert done.code == 0, done.err + done.out
    assert read_records(cwd / "again") == read_records(runs["tools"][1].folder)
    assert read_manifest(cwd / "again")["calls"]["sent"] == 0


def test_resumed_run_recognises_its_samples_by_id(runs):
    _, done = runs["resumed"]
    assert done.code == 0, done.err + done.out
    assert runs["kept"]["calls"]["sent"] > 0
    assert read_manifest(runs["tools"][1].folder)["calls"]["sent"] == runs["kept"]["calls"]["sent"], (
        "no request was repeated"
    )
    assert len(read_records(runs["tools"][1].folder)) == len(IDS)
