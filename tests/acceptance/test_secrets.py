"""An API key is kept in the environment only."""

import orjson
import pytest
from aiohttp import web

from components.models.simulated.serve import Server
from components.serving.endpoint import read_request
from runner.storage.journal import Journal
from runner.storage.texts import _lines
from tests.acceptance.command import Served, endpoint, read_records, run, run_in_process
from tests.acceptance.own import Voice
from tests.slow import slow
from tests.table import each_row

LOOKS_LIKE_ONE = "sk-proj-Abc123Def456Ghi789Jkl012Mno345"
LOOKS_LIKE_NONE = "horse.battery~staple"


class Echo(Server):
    """Answers every ninth request properly and echoes the key in all others, each in a different form."""

    def _echoes(self, key):
        body = orjson.dumps(
            {"error": {"message": f"Incorrect API key provided: {key}. {key}", "type": key, "code": key, "param": key}}
        )
        wrong = orjson.dumps({"choices": key, "error": None, "key": key})
        return [
            web.Response(
                status=500, body=body, content_type="application/json", headers={"X-Key": key, "Retry-After": key}
            ),
            web.Response(status=429, text=f"slow down, Bearer {key}", headers={"Retry-After": "0.01"}),
            web.Response(status=200, body=body, content_type="application/json"),
            web.Response(status=200, body=wrong, content_type="application/json"),
            web.Response(status=502, text=f"<html>Authorization: Bearer {key}</html>"),
            web.Response(status=401, body=body, content_type="application/json"),
            web.Response(status=400, text=key),
            web.Response(status=302, headers={"Location": f"/v1/chat/completions?key={key}"}),
        ]

    async def _complete(self, request):
        key = request.headers["Authorization"].removeprefix("Bearer ")
        self.seen["requests"] += 1
        self.seen[key] += 1
        echoes = self._echoes(key)
        n = self.seen["requests"] % (len(echoes) + 1)
        return await self._answer(read_request(await request.read()), request) if n == len(echoes) else echoes[n]


def everything(folder):
    """Name -> content of every file below a folder, unpacked where it is compressed."""
    found = {}
    for path in (path for path in folder.rglob("*") if path.is_file()):
        found[str(path)] = path.read_bytes() + str(path).encode()
        if path.suffix == ".gz":
            found[f"{path} unpacked"] = b"\n".join(line for lines in _lines(path) for line in lines)
    with Journal(folder / "outputs" / ".journal", read_only=True) as journal:
        found["journal"] = b"".join(key + payload for key, payload in journal.entries())
    return found


@pytest.fixture(scope="module", params=[(LOOKS_LIKE_ONE, "direct"), pytest.param((LOOKS_LIKE_NONE, "direct"), marks=slow),
                        pytest.param((LOOKS_LIKE_ONE, "litellm"), marks=slow)],
                ids=["usual key", "unusual key", "litellm"])  # fmt: skip
def echoed(request, tmp_path_factory):
    key, transport = request.param
    cwd = tmp_path_factory.mktemp("secrets")
    words = (
        "tracking=off", "dataset=cohort", "dataset.n=20", "agent=direct", "model=openai", "model.retries=1",
        f"model.transport={transport}", "model.max_connections=4", "run.max_error_rate=1",
    )  # fmt: skip
    with Served(Echo(Voice(name="gpt-4o-mini-2024-07-18"))) as served:
        play = run if transport == "litellm" else run_in_process  # it has its own logging
        done = play(cwd, *words, f"model.api_base={served.url}", env={"OPENAI_API_KEY": key})
    return key, cwd, done, served.seen[key]


@slow
def test_server_received_and_echoed_the_key(echoed):
    _, _, done, n_seen = echoed
    assert done.code == 0, done.err
    records = read_records(done.folder)
    assert n_seen > len(records) == 20
    assert {"answered", "error"} == {record["stop"] for record in records}


def test_the_key_is_in_no_file(echoed):
    key, cwd, _, _ = echoed
    files = everything(cwd)
    assert files["journal"]
    for name, content in files.items():
        assert key.encode() not in content, name


def test_the_key_is_not_on_the_terminal(echoed):
    key, _, done, _ = echoed
    assert key not in done.out + done.err


def test_errors_still_describe_what_happened(echoed):
    _, _, done, _ = echoed
    errors = [record["error"] for record in read_records(done.folder) if record["error"]]
    kinds = {error.partition(":")[0] for error in errors}
    assert errors and kinds <= {"server", "rate_limit", "unreadable", "auth", "redirect", "bad_request"}, kinds


@pytest.mark.parametrize("tracking", ["off", pytest.param("mlflow", marks=slow)])
def test_keys_in_the_body_of_a_reply_are_in_no_file_that_people_open(tmp_path, tracking):
    judges = "judge-key-of-another-provider"
    says = f"Your key is {LOOKS_LIKE_ONE}, the judge has {judges}.\nAnswer: A"
    words = ("dataset=cohort", "agent=direct", "dataset.n=4", f"tracking={tracking}", "model=openai")
    env = {"OPENAI_API_KEY": LOOKS_LIKE_ONE, "JUDGE_API_KEY": judges}
    with Served(Server(Voice(name="gpt-4o-mini-2024-07-18", says=[says, f"{says}. " * 9]))) as served:
        done = run_in_process(tmp_path, *words, f"model.api_base={served.url}", env=env)
    assert done.code == 0, done.err
    files = everything(tmp_path)
    journal = files.pop("journal")
    stored = {name: content for name, content in files.items() if "/.journal/" not in name}
    assert any(b"the judge has [hidden]" in content for content in stored.values())
    for key in (LOOKS_LIKE_ONE, judges):
        assert not [name for name, content in stored.items() if key.encode() in content]
    assert LOOKS_LIKE_ONE.encode() not in journal and judges.encode() in journal  # as the agent read it
    again = run_in_process(tmp_path, *words, "run.replay=true", env=env)
    assert read_records(again.folder) == read_records(done.folder)


MISTAKES = {
    "settings": ("model.api_base=http://user:{key}@127.0.0.1:9/v1", "+model.api_key={key}", "limit={key}", "name='{key} '"),
    "key_env": ("model.api_key_env={key}", "model.extra={{api_key: {key}}}"),
    "no such key": ("{key}=1",),
    "no such choice": ("model={key}",),
}  # fmt: skip


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("mistakes")
    words = ("tracking=off", "dataset=cohort", "agent=direct", "model=vllm")
    lines = {kind: [*words, *(word.format(key=LOOKS_LIKE_ONE) for word in MISTAKES[kind])] for kind in MISTAKES}
    ended = {kind: run_in_process(cwd, *lines[kind]) for kind in MISTAKES}
    assert not (cwd / "outputs").exists()
    return ended


@each_row("kind", MISTAKES)
def test_key_on_the_command_line_is_refused_and_not_printed(mistakes, kind):
    done = mistakes[kind]
    assert done.code == 2
    assert LOOKS_LIKE_ONE not in done.out + done.err


@slow
def test_value_of_a_secret_variable_is_refused_anywhere_and_not_printed(tmp_path):
    key = "Zq8wZq8wZq8wZq8wZq8w"
    words = (f"model.name=x/{key}", f"model.permits=[{key}]")
    done = run(tmp_path, "tracking=off", "model=vllm", *words, env={"MISTRAL_API_KEY": key})
    assert done.code == 2 and key not in done.out + done.err
    for name in ("model.name", "model.permits"):
        assert f"{name}: contains the value of the environment variable MISTRAL_API_KEY" in done.err
    assert not (tmp_path / "outputs").exists()


def test_key_as_a_sampling_parameter_is_refused_or_in_no_file(tmp_path):
    with Served(Server(Voice())) as served:
        words = (f"+model.extra.token={LOOKS_LIKE_ONE}", "limit=2")
        done = run_in_process(tmp_path, "tracking=off", "dataset=cohort", "agent=direct", *words, *endpoint(served.url))
    assert done.code in (0, 2), done.err
    assert LOOKS_LIKE_ONE not in done.out + done.err
    for name, content in everything(tmp_path).items():
        assert LOOKS_LIKE_ONE.encode() not in content, name
