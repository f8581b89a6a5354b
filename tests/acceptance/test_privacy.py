"""Credentialed data go to no endpoint that is not declared to receive them."""

import asyncio
import threading

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import Served, counted, endpoint, run, told
from tests.acceptance.own import Voice

WORDS = ("tracking=off", "dataset=cohort", "dataset.privacy=credentialed", "agent=direct", "limit=4")


class Ears:
    """A raw socket that counts who connects, before any byte."""

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


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    cwd, ears = tmp_path_factory.mktemp("refused"), Ears()
    done = run(cwd, *WORDS, *endpoint(ears.url, "hydra.run.dir=refused"))
    ears.close()
    return cwd, done, ears.connections


def test_the_ears_hear_whoever_connects(tmp_path):
    """The counter counts: a run that is permitted is heard."""
    ears = Ears()
    words = (*WORDS, "dataset.privacy=open", "model.retries=0", "limit=1")
    done = run(tmp_path, *words, *endpoint(ears.url))
    ears.close()
    assert done.code == 1
    assert ears.connections > 0


def test_refused_before_the_first_byte(refused):
    _, done, connections = refused
    assert done.code == 2
    assert connections == 0


def test_the_refusal_is_one_line_that_says_what_would_permit_it(refused):
    _, done, _ = refused
    assert len(done.err.splitlines()) == 1
    assert "model.permits=[credentialed]" in done.err
    assert done.out == ""


def test_reason_and_decision_stand_in_the_manifest_and_nothing_else_is_left(refused):
    cwd, _, _ = refused
    manifest = counted(cwd / "refused")
    assert manifest["status"] == "refused"
    assert manifest["privacy"]["decision"] == "refused"
    assert manifest["privacy"]["dataset"] == "credentialed"
    assert "credentialed" in manifest["privacy"]["reason"]
    assert [path.name for path in (cwd / "refused").iterdir()] == ["manifest.json"]
    assert sorted(path.name for path in cwd.iterdir()) == ["refused"]


def test_an_endpoint_that_permits_phi_alone_does_not_get_credentialed_data(tmp_path):
    ears = Ears()
    done = run(tmp_path, *WORDS, *endpoint(ears.url, "model.permits=[phi]"))
    ears.close()
    assert (done.code, ears.connections) == (2, 0)


def test_a_second_model_without_permission_refuses_the_whole_run(tmp_path):
    ears = Ears()
    judge = f"{{_target_: components.models.gateway.Gateway, name: judge, provider: vllm, api_base: '{ears.url}'}}"
    done = run(tmp_path, *WORDS, f"+models.judge={judge}")
    ears.close()
    assert (done.code, ears.connections) == (2, 0)
    assert "models.judge.permits" in done.err


def test_with_permission_the_run_is_played_and_the_decision_written(tmp_path):
    with Served(Server(Voice())) as served:
        done = run(tmp_path, *WORDS, *endpoint(served.url, "model.permits=[credentialed]"))
        assert done.code == 0, done.err
        assert served.seen["answered"] == 4
    assert len(told(done.folder)) == 4
    privacy = counted(done.folder)["privacy"]
    assert (privacy["dataset"], privacy["decision"]) == ("credentialed", "permitted")


def test_the_simulated_core_in_process_is_always_permitted(tmp_path):
    done = run(tmp_path, *WORDS)
    assert done.code == 0, done.err
    assert counted(done.folder)["privacy"]["decision"] == "permitted"
