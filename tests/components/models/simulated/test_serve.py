import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import orjson
import pytest

from components.core.errors import ConfigError
from components.core.messages import Message, Request
from components.grammars.native_tools import NativeTools
from components.models.simulated import Simulated
from components.models.simulated.core import Core
from components.models.simulated.serve import Faults, Server, dataset_samples, from_arguments, main
from components.radiology.agent import Radagent
from components.radiology.dataset import RadABench
from tests.golden.vectors import PAPER

ROOT = Path(__file__).resolve().parents[4]
HELLO = {"messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
async def serving():
    """Starts servers on free ports; gives the base URL and a session."""
    servers = []
    async with aiohttp.ClientSession() as session:

        async def start(server):
            servers.append(server)
            return await server.start(), session

        yield start
    for server in servers:
        await server.stop()


def body(request: Request) -> bytes:
    """A request as an endpoint gets it."""
    messages = b",".join(m.wire for m in request.messages)
    tools = b"".join([b',"tools":[', b",".join(t.wire for t in request.tools), b"]"]) if request.tools else b""
    return b'{"model":"simulated","seed":%d,"messages":[%s]%s}' % (request.seed, messages, tools)


def said(message: Message) -> dict:
    """A message as an endpoint replies it; with the same bytes as in this process."""
    return orjson.loads(message.wire)


@pytest.mark.parametrize("grammar", [None, NativeTools()])
async def test_replies_are_the_same_bytes_over_http_and_in_process(perform, samples, serving, grammar):
    asked = []

    class Noting(Simulated):
        async def generate(self, request):
            asked.append((request, await super().generate(request)))
            return asked[-1][1]

    rates = {"competence": 0.5, "planning_slip_rate": 0.3, "wrong_tool_rate": 0.1, "malformed_rate": 0.05}
    await perform(samples[:11], Radagent(PAPER), grammar, kind=Noting, seed=3, **rates)
    model = Simulated(**rates, ignored_refusal_rate=0.0, seed=3)
    model.study(samples)
    url, session = await serving(Server(model))
    assert len(asked) > 40
    for request, completion in asked:
        async with session.post(f"{url}/chat/completions", data=body(request)) as reply:
            got = orjson.loads(await reply.read())
        assert orjson.dumps(got["choices"][0]["message"]) == orjson.dumps(said(completion.message))
        assert got["choices"][0]["finish_reason"] == completion.finish
        usage = completion.usage
        assert (got["usage"]["prompt_tokens"], got["usage"]["completion_tokens"]) == (
            usage.input_tokens,
            usage.output_tokens,
        )


async def test_it_tells_its_models_and_what_it_has_seen(serving):
    url, session = await serving(Server(Simulated(), latency=0.02))
    async with session.get(f"{url}/models") as reply:
        assert [m["id"] for m in (await reply.json())["data"]] == ["simulated"]
    posts = [session.post(f"{url}/chat/completions", json=HELLO) for _ in range(5)]
    assert [r.status for r in await asyncio.gather(*posts)] == [200] * 5
    async with session.get(url.removesuffix("/v1") + "/stats") as reply:
        assert await reply.json() == {"requests": 5, "answered": 5, "most_in_flight": 5, "in_flight": 0}


@pytest.mark.parametrize(
    "wrong", [b"{", b"[]", b'{"messages": 3}', b'{"messages": [{"content": "x"}]}', b'{"messages": []}']
)
async def test_an_unreadable_request_is_the_clients_fault(serving, wrong):
    server = Server(Simulated())
    url, session = await serving(server)
    async with session.post(f"{url}/chat/completions", data=wrong) as reply:
        assert reply.status == 400
        assert (await reply.json())["error"]["type"] == "invalid_request_error"
    assert server.seen["bad_requests"] == 1 and server.in_flight == 0


async def test_faults_happen_at_their_rates(serving):
    faults = Faults(status_429=0.1, status_500=0.05, resets=0.04, stalls=0.03, malformed=0.02, stall_seconds=0.001)
    server = Server(Simulated(), faults)
    url, session = await serving(server)
    outcomes = []

    async def ask():
        try:
            async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
                if reply.status == 429:
                    assert reply.headers["Retry-After"] == "0.1"
                try:
                    orjson.loads(await reply.read())
                    outcomes.append(reply.status)
                except orjson.JSONDecodeError:
                    outcomes.append("malformed")
        except aiohttp.ClientError:
            outcomes.append("cut off")

    for _ in range(20):
        await asyncio.gather(*(ask() for _ in range(75)))
    shares = {kind: outcomes.count(kind) / len(outcomes) for kind in (200, 429, 500, "malformed", "cut off")}
    wanted = {200: 0.76, 429: 0.1, 500: 0.05, "malformed": 0.02, "cut off": 0.07}
    assert shares == pytest.approx(wanted, abs=0.03)
    counts = ("answered", "status_429", "status_500", "malformed")
    assert [server.seen[c] for c in counts] == [outcomes.count(k) for k in (200, 429, 500, "malformed")]
    assert server.seen["resets"] + server.seen["stalls"] == outcomes.count("cut off")


async def test_without_faults_nothing_goes_wrong_and_with_all_everything_does(serving):
    for share, status in ((0.0, 200), (1.0, 500)):
        url, session = await serving(Server(Simulated(), Faults(status_500=share)))
        for _ in range(30):
            async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
                assert reply.status == status


def test_the_command_line_makes_a_server():
    server, host, port = from_arguments(
        [
            "--port",
            "0",
            "--latency",
            "0.2",
            "--status-429",
            "0.1",
            "--stall-seconds",
            "3",
            "--competence",
            "0.4",
            "--seed",
            "7",
        ]
    )
    assert (host, port, server.latency) == ("127.0.0.1", 0, 0.2)
    assert (server.faults.status_429, server.faults.stall_seconds, server.faults.seed) == (0.1, 3.0, 7)
    assert (server.model.competence, server.model.seed) == (0.4, 7)
    same = Simulated(competence=0.4, seed=7)
    same.study(RadABench(shipped="radabench_mini").load("test"))
    assert server.model.identity == same.identity


def test_values_for_the_dataset_are_read_as_yaml_and_its_split_is_studied():
    def key(*words):
        return from_arguments(["--dataset", "ehr_mini", *(w for one in words for w in ("--dataset-arg", one))])[
            0
        ].model.core.key

    plain, databases = key(), key("databases=[mimic_iii]")
    assert key("unanswerable=false").digest == plain.digest != key("unanswerable=true").digest
    assert databases.digest not in (plain.digest, key("split=train").digest)
    with pytest.raises(ConfigError, match="no YAML"):
        key("databases=[")


async def test_what_goes_wrong_in_the_core_is_the_servers_fault(serving):
    class Broken(Core):
        def reply(self, messages, tools, seed):
            raise KeyError("a mistake in the core")

    model = Simulated()
    model.core = Broken(model.core.rates)
    server = Server(model)
    url, session = await serving(server)
    async with session.post(f"{url}/chat/completions", json=HELLO) as reply:
        assert reply.status == 500
    assert server.seen["bad_requests"] == 0 and server.in_flight == 0


def test_the_answer_key_is_that_of_any_dataset(tmp_path):
    (tmp_path / "one.json").write_bytes((ROOT / "components/radiology/radabench_mini/train.json").read_bytes())
    found = dataset_samples("radabench", {"path": str(tmp_path)})
    assert {one.problem.id for one in found} <= {one.problem.id for one in RadABench(path=str(tmp_path)).load("test")}


def test_a_dataset_within_another_one_is_chosen_and_set_like_it(tmp_path):
    (tmp_path / "one.json").write_bytes((ROOT / "components/radiology/radabench_mini/train.json").read_bytes())
    shipped = {one.problem.id: one.problem.question for one in dataset_samples("cab_mini", {})}
    found = dataset_samples("perturbed", {})
    assert {one.problem.id for one in found} == shipped.keys()
    assert any(one.problem.question != shipped[one.problem.id] for one in found)
    inner = dataset_samples("perturbed", {"inner": "radabench", "inner.path": str(tmp_path), "perturb": []})
    assert inner == dataset_samples("radabench", {"path": str(tmp_path)})


BAD = {
    "a name within that there is not": (["--dataset", "perturbed", "--dataset-arg", "inner=x"], "no such dataset"),
    "another name": (["--dataset", "radabnch"], "there is no such dataset; there are .*radabench_mini"),
    "no data": (["--dataset", "radabench"], "no data: give dataset.path"),
    "a missing file": (["--dataset", "radabench", "--dataset-arg", "path=/nowhere"], "does not exist"),
    "an unset folder": (["--dataset", "medqa"], "CLINICAL_DATA_DIR"),
    "an unknown argument": (["--dataset-arg", "pth=x"], "pth"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_dataset_that_cannot_be_loaded_is_refused(what, capsys, monkeypatch):
    monkeypatch.delenv("CLINICAL_DATA_DIR", raising=False)
    words, text = BAD[what]
    with pytest.raises(ConfigError, match=text):  # made only, since what is not refused would be served for ever
        from_arguments([*words, "--port", "0"])
    assert main([*words, "--port", "0"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and err.count("\n") == 1


def test_a_command_line_that_cannot_be_read_is_exit_2(capsys):
    for words in (["--port", "x"], ["--latncy", "1"], ["surplus"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
    assert "unrecognized arguments: surplus" in capsys.readouterr().err


def test_the_command_serves_until_it_is_interrupted():
    line = [sys.executable, "-m", "components.models.simulated.serve", "--port", "0"]
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ}
    )
    try:
        assert process.stdout is not None
        assert "serving the simulated core at http://127.0.0.1:" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
    assert process.returncode == 0 and err == ""
