"""An agent from outside: what its program gets, what holds for it, and what its failures are."""

import asyncio
import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import uvloop
from aiohttp import web

from components.agents.external import External
from components.agents.external.endpoint import EpisodeServer
from components.agents.external.program import outcome_in, run_program
from components.conditions.offered import Withhold
from components.core.errors import OVERFLOW, AttemptOver, ConfigError, ModelError
from components.core.messages import Image, Message, ToolCall, ToolSpec
from components.core.plain import Accept
from components.core.tools import NoState, Offer
from components.core.types import Answer, Failure, Observation, Problem, Refusal, Sample
from components.grammars.native_tools import NativeTools
from components.grammars.xml_call import XmlCall
from components.models.scripted import Scripted
from components.serving import endpoint
from components.verifiers.select import Select
from runner.episode.budget import Budget
from runner.episode.door import Door
from runner.episode.episode import solve_sample
from runner.episode.shared import Parts
from runner.experiment.parts import check_fit
from tests.components.conftest import Add, AsItIs, Desk

PROGRAM = str(Path(__file__).with_name("program.py"))
EXAMPLE = str(Path(__file__).resolve().parents[4] / "docs" / "examples" / "plain_agent.py")
PROBLEM = Problem("p1", "Which vitamin prevents scurvy?", {"A": "B12", "B": "C"})


def program(*words, **settings):
    """The agent whose program behaves so."""
    return External([sys.executable, "-S", PROGRAM, *words], **settings)


async def solve(agent, replies=(), *, tools=None, verifier=None, budget=None, desk=None, condition=None):  # fmt: skip
    """The trajectory of an episode with scripted replies, and the requests of the model."""
    model = Scripted(replies if callable(replies) else list(replies))
    parts = Parts(agent, verifier or Accept(), NativeTools(), desk or Desk(tools or [Add()]), condition or AsItIs(),
                  budget=budget or Budget())  # fmt: skip
    trajectory = await solve_sample(parts, Door({"main": model}, None, run_seed=0), Sample(PROBLEM, target="B"), 0)
    return trajectory, model.requests


async def test_the_example_uses_the_tools_and_the_model():
    calls = (ToolCall("c1", "add", '{"numbers": [1, 2]}'), ToolCall("c2", "nothing", "{}"))
    agent = External([sys.executable, EXAMPLE])
    trajectory, requests = await solve(agent, [Message("assistant", "", calls), "Answer: B"])
    assert (trajectory.stop, trajectory.answer, trajectory.error) == ("answered", "Answer: B", None)
    assert [spec.name for spec in requests[0].tools] == ["add"] and "scurvy" in requests[0].messages[0].text
    assert [message.text for message in requests[1].messages[2:]] == [
        "3",
        "There is no tool 'nothing'; the tools are add.",
    ]
    assert [one.call.id for one in trajectory.steps[0].observed] == ["c1", "c2"]
    assert [(one.call.name, one.error) for one in trajectory.steps[0].observed] == [
        ("add", None),
        ("nothing", "unknown_tool"),
    ]
    assert [step.purpose for step in trajectory.steps] == ["act", "act"]


async def test_the_program_gets_the_problem_and_no_variable_that_is_not_named(monkeypatch):
    monkeypatch.setenv("SECRET", "1")
    trajectory, _ = await solve(program("report", env=["PATH"]))
    problem, model, names = json.loads(trajectory.answer)
    assert problem["choices"] == PROBLEM.choices and PROBLEM.question in problem["text"] and model == "scripted"
    assert {*names} - {"LC_CTYPE"} == {
        "MCP_TOKEN",
        "MCP_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "PATH",
    }


async def test_another_model_token_or_number_of_replies_is_refused():
    trajectory, requests = await solve(program("statuses"))
    assert json.loads(trajectory.answer) == [404, 401, 401, *[400] * 7] and not requests


async def test_calls_before_the_first_request_are_recorded_with_it():
    trajectory, _ = await solve(program("tools"), ["hello"])
    assert json.loads(trajectory.answer) == [["add"], "3", True]
    assert [(one.observation.text, one.error) for one in trajectory.steps[0].observed] == [
        ("3", None), ("there is nothing to add", "tool_error")
    ]  # fmt: skip


async def test_what_a_condition_withholds_is_neither_listed_nor_called():
    trajectory, _ = await solve(program("tools"), ["hello"], tools=[Add(), Numbered()], condition=Withhold(["add"]))
    listed, first, is_error = json.loads(trajectory.answer)
    assert listed == ["count"] and first.startswith("There is no tool 'add'") and is_error


class Numbered:
    """A tool that says how many calls of it there were."""

    spec, effect = replace(Add.spec, name="count"), "pure"

    async def __call__(self, context, numbers):
        return Observation(f"{context.number}")


async def test_calls_before_the_first_request_count_for_conditions_that_go_by_their_number():
    trajectory, _ = await solve(program("tools", "count"), ["hello"], tools=[Numbered()])
    assert [one.observation.text for one in trajectory.steps[0].observed] == ["0", "1"]


async def test_replies_are_streamed_on_request():
    assert (await solve(program("stream"), ["hello there, ward"]))[0].answer == "hello there, ward"


async def test_images_that_the_model_does_not_take_are_not_given_to_the_program():
    model = Scripted([])
    model.vision = False
    parts = Parts(program("exit", "3"), Accept(), NativeTools(), Desk(), AsItIs())
    sample = Sample(replace(PROBLEM, images=(Image("data:image/png;base64,QQ=="),)), None)
    trajectory = await solve_sample(parts, Door({"main": model}, None, run_seed=0), sample, 0)
    assert (trajectory.stop, trajectory.failure) == ("failed", "unsupported_input")


async def test_the_sampling_of_a_request_is_used():
    asked = {"temperature": 0.5, "max_completion_tokens": 7, "stop": "x", "tool_choice": "none"}
    _, (request,) = await solve(program("ask", json.dumps(asked)), ["hello"])
    sampling = request.sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.stop) == (0.5, 7, ("x",))
    assert sampling.extra == {"tool_choice": "none"}


async def test_a_verifier_chooses_the_reply_that_the_program_gets():
    trajectory, requests = await solve(program("ask"), ["A", "B", "2"], verifier=Select(n=2))
    assert trajectory.answer == "B" and len(requests) == 3
    assert [step.committed for step in trajectory.steps if step.purpose == "act"] == [False, True]


async def test_a_spent_budget_is_an_error_for_the_program_and_ends_the_episode_by_limit(tmp_path):
    trajectory, requests = await solve(program("until_refused", str(tmp_path / "seen")), "abc", budget=Budget(calls=2))
    assert (trajectory.stop, trajectory.answer, len(requests)) == ("limit", None, 2)
    status, body = json.loads((tmp_path / "seen").read_text())
    assert status == 403 and body["error"]["code"] == "budget_exceeded"
    assert body["error"]["message"] == "the budget is spent: budget.sample.calls=2"


class Tries:
    """An agent around another one, which it lets try until the attempt's budget is spent."""

    def __init__(self, inner):
        self.inner = inner

    async def solve(self, episode):
        (line,) = episode.lines(["one"])
        with pytest.raises(AttemptOver):
            await self.inner.solve(line)
        return Answer("the attempt is over")


async def test_an_agent_around_it_learns_of_the_limit_as_of_any_agent(tmp_path):
    agent = Tries(program("until_refused", str(tmp_path / "seen")))
    trajectory, _ = await solve(agent, "ab", budget=Budget(calls=2))
    assert (trajectory.stop, trajectory.answer) == ("answered", "the attempt is over"), trajectory.error


async def test_a_program_that_hangs_after_the_limit_is_killed(tmp_path):
    agent = program("until_refused", str(tmp_path / "seen"), "600", grace_seconds=0.1)
    assert (await asyncio.wait_for(solve(agent, "a", budget=Budget(calls=1)), 20))[0].stop == "limit"


async def test_a_request_that_is_too_long_is_the_programs_to_recover_from():
    def refuse(request):
        raise ModelError("the prompt has 9 tokens", OVERFLOW)

    assert (await solve(program("overflow", "recover"), refuse))[0].answer == "context_length_exceeded"
    trajectory, _ = await solve(program("overflow"), refuse)
    assert (trajectory.stop, trajectory.failure) == ("failed", "context_length")


async def test_a_crash_after_a_recovery_is_an_error_not_the_failure_of_the_request_before():
    def refuse(request):
        if len(request.messages[0].text) > 9:
            raise ModelError("the prompt has 9 tokens", OVERFLOW)
        return "hello"

    trajectory, _ = await solve(program("recover"), refuse)
    assert trajectory.stop == "error" and "exit code 3: database is locked" in trajectory.error


async def test_the_time_of_a_sample_bounds_a_program():
    begun = time.monotonic()
    trajectory, _ = await solve(program("hang"), budget=Budget(seconds=0.2))
    assert (trajectory.stop, trajectory.answer) == ("limit", None) and time.monotonic() - begun < 5


async def test_a_model_that_fails_is_the_error_of_the_episode(tmp_path):
    def fail(request):
        raise ModelError("status 500", "server")

    trajectory, _ = await solve(program("until_refused", str(tmp_path / "seen")), fail)
    assert (trajectory.stop, trajectory.error) == ("error", "server: status 500")
    assert json.loads((tmp_path / "seen").read_text())[0] == 403


class Broken:
    """A tool whose service is down."""

    spec, effect = ToolSpec("add", "", Add.spec.parameters), "pure"

    async def __call__(self, context, numbers):
        raise ModelError("the service is down", "mcp_server")


async def test_a_tool_whose_service_is_down_is_the_error_of_the_episode_not_an_observation():
    trajectory, _ = await solve(program("tools"), ["hello"], tools=[Broken()])
    assert (trajectory.stop, trajectory.error) == ("error", "mcp_server: the service is down")


FAILURES = {
    "a crash": (["exit", "3"], r"ended with exit code 3: no such ward"),
    "a kill": (["kill"], "was killed by SIGKILL"),
    "a hang": (["hang"], r"no outcome within 0.5 s \(agent.timeout_seconds\)"),
    "a flood": (["flood"], "printed more than 1,048,576 bytes"),
    "no outcome": (["print", "B\x1b[1m"], r"gave no outcome: its last line is 'B\\\\x1b\[1m'"),
}


@pytest.mark.parametrize("words, text", FAILURES.values(), ids=FAILURES)
async def test_a_program_that_fails_is_an_error_not_an_answer(words, text):
    trajectory, _ = await solve(program(*words, timeout_seconds=0.5 if words == ["hang"] else 60.0))
    assert (trajectory.stop, trajectory.answer) == ("error", None)
    assert re.search(text, trajectory.error) and trajectory.error.startswith("program: ")


REFUSABLE = Offer({}, NoState(), refusal_fields={"missing": ("tool", "input"), "what": ()})
NO_OUTCOMES = {
    "": "gave no outcome: its last line is ''",
    '{"reply": "B"}': "an outcome of {'reply': text}; it should be",
    '{"answer": 3}': "an outcome of {'answer': number}; it should be",
    '{"failure": "unsupported_input"}': "not one of ours",
    '{"refusal": {"missing": "time"}}': "missing='time'; it is one of tool, input",
}


@pytest.mark.parametrize("printed, text", NO_OUTCOMES.items())
def test_what_is_no_outcome_is_an_error(printed, text):
    with pytest.raises(ModelError, match=text):
        outcome_in(printed.encode(), "agent.py", REFUSABLE)


def test_a_program_that_ends_before_it_reads_is_known_by_its_exit_code():
    async def ended_by_then():
        for _ in range(5):
            with pytest.raises(ModelError, match="'false' ended with exit code 1"):
                await run_program(["false"], ["PATH"], {}, {"text": "x" * 100_000})

    uvloop.run(ended_by_then())


def test_refusals_and_failures_are_outcomes():
    grounds = {"missing": "tool", "what": "a scanner"}
    refusal = json.dumps({"refusal": grounds}).encode()
    assert outcome_in(b"a note\n" + refusal, "agent.py", REFUSABLE) == Refusal(grounds)
    assert outcome_in(b'{"failure": "gave_up", "detail": "x"}', "agent.py", REFUSABLE) == Failure("gave_up", "x")
    with pytest.raises(ModelError, match="may not be refused"):
        outcome_in(refusal, "agent.py", Offer({}))


async def test_what_a_program_leaves_running_does_not_delay_its_outcome():
    begun = time.monotonic()
    assert (await solve(program("fork")))[0].answer == "parent" and time.monotonic() - begun < 2.5


async def test_a_program_that_asks_without_end_is_an_error_not_an_outcome():
    trajectory, _ = await solve(program("many", "5", max_requests=3))
    text = "program: the program made more than 3 requests (agent.max_requests)"
    assert (trajectory.stop, trajectory.error) == ("error", text)


async def test_nothing_is_begun_when_the_outcome_is_there_and_what_the_program_left_is_noted():
    work, asked = asyncio.Event(), []

    class Late:
        model_name, offer = "m", Offer({})

        async def call(self, name, arguments):
            asked.append(name)
            await work.wait()
            raise ModelError("the service is down", "mcp_server")

    server = EpisodeServer(Late(), 9)
    async with server.listening():
        calling = asyncio.create_task(server.call("add", "{}"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        calling.cancel()  # the program hangs up
        work.set()
        assert str(await asyncio.wait_for(server.ended, 5)) == "the service is down"
    other = EpisodeServer(Late(), 9)
    async with other.listening():
        pass
    with pytest.raises(ModelError, match="has given its outcome"):
        await other.call("add", "{}")
    assert asked == ["add"]


@pytest.fixture
async def service():
    """An HTTP service that replies with a status and a body; its address, and what it was given."""
    seen, replies = [], []

    async def solve_one(request):
        seen.append(await request.json())
        status, body = replies.pop()
        return web.Response(status=status, text=body)

    app = web.Application()
    app.router.add_post("/solve", solve_one)
    runner, url = await endpoint.listen(app, "127.0.0.1", 0)
    yield f"{url}/solve", seen, replies
    await runner.cleanup()


async def test_a_service_is_asked_over_http(service):
    url, seen, replies = service
    replies += [(500, "no\nsuch ward"), (200, '{\n "answer": "B"\n}')]
    assert (await solve(External(url=url)))[0].answer == "B" and seen[0]["problem"]["id"] == "p1"
    trajectory, _ = await solve(External(url=url))
    assert trajectory.error == f"program: {url} replied with status 500: such ward"
    trajectory, _ = await solve(External(url="http://127.0.0.1:9/solve"))
    assert "http://127.0.0.1:9/solve cannot be asked" in trajectory.error


def test_a_grammar_other_than_function_calls_is_refused_before_the_run():
    parts = Parts(program("ask"), Accept(), XmlCall(), Desk(), AsItIs())
    with pytest.raises(ConfigError, match=r"agent\.grammar: External .* XmlCall does not read: choose agent.grammar="):
        check_fit(parts, Sample(PROBLEM, None), 0, True)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "either a command or a url"),
        ({"command": ["a"], "url": "b"}, "either"),
        ({"command": ["no-such"]}, "PATH"),
        ({"url": "127.0.0.1:9000"}, "url: found '127.0.0.1:9000', should be like"),
        ({"command": ["python"], "env": ["PATH", "NO_SUCH"]}, "env: NO_SUCH is not set"),
    ],
)
def test_a_command_or_a_url_is_needed(settings, text):
    with pytest.raises(ConfigError, match=text):
        External(**settings)
