"""Credentialed data are sent only to endpoints declared to receive them."""

import asyncio
import threading

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import Served, endpoint, read_manifest, read_records, run_in_process
from tests.acceptance.own import Voice
from tests.slow import slow
from tests.table import each_row

WORDS = ("tracking=off", "dataset=cohort", "dataset.privacy=credentialed", "agent=direct", "limit=4")


class Ears:
    """A raw socket that counts connections before any byte is sent."""

    def __init__(self):
        self.connections = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._count, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _count(self, reader, writer):
        self.connections += 1
        writer.close()

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _close(self):
        self._server.close()
        await self._server.wait_closed()

    def close(self):
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def judge(url):
    return f"{{_target_: components.models.gateway.Gateway, name: judge, provider: vllm, api_base: '{url}'}}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Kind -> (working folder, finished command, number of connections)."""
    heard = {kind: Ears() for kind in ("open", "refused", "phi", "second")}
    cwds = {kind: tmp_path_factory.mktemp(kind) for kind in (*heard, "permitted", "simulated")}
    url = {kind: ears.url for kind, ears in heard.items()}
    with Served(Server(Voice())) as served:
        url["permitted"] = served.url
        words = {
            "open": endpoint(url["open"], "dataset.privacy=open", "model.retries=0", "limit=1"),
            "refused": endpoint(url["refused"], "hydra.run.dir=refused"),
            "phi": endpoint(url["phi"], "model.permits=[phi]"),
            "second": [f"+models.judge={judge(url['second'])}"],
            "permitted": endpoint(url["permitted"], "model.permits=[credentialed]"),
            "simulated": [],
        }
        ended = {kind: run_in_process(cwds[kind], *WORDS, *words[kind]) for kind in words}
        n_heard = {kind: ears.connections for kind, ears in heard.items()} | {"permitted": served.seen["answered"]}
    for ears in heard.values():
        ears.close()
    return {kind: (cwds[kind], done, n_heard.get(kind)) for kind, done in ended.items()}


@slow
def test_counter_counts_every_connection(runs):
    """A permitted run is counted."""
    _, done, connections = runs["open"]
    assert done.code == 1
    assert connections > 0


@each_row("kind", ["refused", "phi", "second"])
def test_run_is_refused_before_any_connection(runs, kind):
    _, done, connections = runs[kind]
    assert done.code == 2
    assert connections == 0


@each_row("kind, key", [("refused", "model"), ("phi", "model"), ("second", "models.judge")])
def test_refusal_is_one_line_that_says_how_to_permit_it(runs, kind, key):
    _, done, _ = runs[kind]
    assert len(done.err.splitlines()) == 1
    assert f" {key}.permits=[credentialed]" in done.err
    assert done.out == ""


def test_refused_run_writes_only_a_manifest_with_the_decision(runs):
    cwd, _, _ = runs["refused"]
    manifest = read_manifest(cwd / "refused")
    assert manifest["status"] == "refused"
    assert manifest["privacy"]["decision"] == "refused"
    assert manifest["privacy"]["dataset"] == "credentialed"
    assert "credentialed" in manifest["privacy"]["reason"]
    assert [path.name for path in (cwd / "refused").iterdir()] == ["manifest.json"]
    assert sorted(path.name for path in cwd.iterdir()) == ["refused"]


def test_permitted_run_records_the_decision(runs):
    _, done, answered = runs["permitted"]
    assert done.code == 0, done.err
    assert (answered, len(read_records(done.folder))) == (4, 4)
    privacy = read_manifest(done.folder)["privacy"]
    assert (privacy["dataset"], privacy["decision"]) == ("credentialed", "permitted")


def test_in_process_simulated_model_is_always_permitted(runs):
    _, done, _ = runs["simulated"]
    assert done.code == 0, done.err
    assert read_manifest(done.folder)["privacy"]["decision"] == "permitted"


def test_refusal_does_not_change_a_finished_run_in_the_folder(runs):
    cwd, done, _ = runs["permitted"]
    before = {path.name: path.read_bytes() for path in done.folder.iterdir()}
    refused = run_in_process(cwd, *WORDS, *endpoint("http://127.0.0.1:9/v1"), f"hydra.run.dir={done.folder}")
    assert refused.code == 2
    assert {path.name: path.read_bytes() for path in done.folder.iterdir()} == before
