"""The same tools over HTTP: against the project's own server, and against servers that answer something else."""

import asyncio
import json
from contextlib import asynccontextmanager, nullcontext

import pytest
from aiohttp import ClientSession, web
from yarl import URL

from components.agents.react import ReAct
from components.core.errors import ConfigError, ModelError, ToolError
from components.core.plain import Accept
from components.fhir import export
from components.fhir.grading import grade
from components.fhir.remote import Server
from components.fhir.serve import application, main
from components.fhir.toolset import Fhir
from components.fhir.world import Chart, open_world
from components.grammars.native_tools import NativeTools
from components.serving import endpoint
from components.web import Web
from runner.episode.episode import solve_sample
from runner.episode.shared import Parts
from tests.components.fhir.fernhill import MINI, VITALS, samples, toolset
from tests.components.fhir.test_toolset import Context
from tests.parts import Intact, door
from tests.simulated import simulated
from tests.table import each_row


@asynccontextmanager
async def serving():
    chart = Chart(open_world(MINI))
    runner, url = await endpoint.listen(application(chart), "127.0.0.1", 0)
    try:
        yield chart, f"{url}/fhir"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def answering(status, body, headers=None, wait=0):
    """A server that always answers so, and counts."""
    asked = []

    async def answer(request):
        asked.append(request.method)
        await asyncio.sleep(wait)
        return web.Response(status=status, body=body, headers=headers)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner, url = await endpoint.listen(app, "127.0.0.1", 0)
    try:
        yield f"{url}/fhir", asked
    finally:
        await runner.cleanup()


async def test_episodes_over_http_are_those_in_the_process():
    model = simulated(competence=1.0, planning_slip_rate=0.0, wrong_tool_rate=0.0, malformed_rate=0.0)
    model.study(samples().values())
    names = ["find_patient_1", "age_2", "mean_glucose_4", "replace_potassium_1", "record_vitals_3", "refer_1"]
    async with serving() as (chart, url):
        answers = []
        for tools in (toolset(), toolset(base_url=url)):
            parts = Parts(ReAct(), Accept(), NativeTools(), tools, Intact(), {})
            ran = [await solve_sample(parts, door(model), samples()[name], 0) for name in names]
            assert all(
                grade(samples()[name].target, one, strict=True).right for name, one in zip(names, ran, strict=True)
            )
            answers.append([one.answer for one in ran])
    assert answers[0] == answers[1] and len(chart.created) == 4


async def test_the_server_reads_searches_creates_and_refuses():
    async with serving() as (chart, url):
        patient = samples()["age_1"].metadata["patient"]
        offer = toolset(base_url=url).open(samples()["age_1"])
        context = Context(offer.state)
        seen = json.loads((await offer.tools["Patient_Search"](context, identifier=patient)).text)
        assert seen["entry"][0]["fullUrl"] == f"{url}/Patient/{patient}"
        with pytest.raises(ToolError, match="no search parameter 'ward'") as found:
            await offer.tools["Patient_Search"](context, ward="3")
        assert found.value.label == "http_400"
        with pytest.raises(ToolError, match="no request that is so large"):
            await offer.tools["Observation_Create"](context, **{**VITALS, "valueString": "x" * 200_000})
        assert chart.created == []


@each_row(
    "method, path, body, status, words",
    [
        ("GET", "Patient/{}", None, 200, '"birthDate"'), ("GET", "Patient/..%2F{}%1B", None, 404, "there is no Patient '../"),
        ("GET", "ward", None, 404, "'ward' is not served"), ("GET", "metadata", None, 200, '"CapabilityStatement"'), ("GET", "Patient?name=%ff", None, 200, '"total":0'),
        ("GET", "Patient?_count=-1", None, 400, "_count must be a whole number"),
        ("POST", "Observation", b"[", 400, "the body is not JSON"), ("POST", "Observation", b"[" * 3000, 400, "depth"),
        ("POST", "Observation", b"[]", 400, "must be a JSON object"), ("POST", "Patient", b"{}", 405, "cannot be created"),
        ("POST", "Pet", b"{}", 404, "'Pet' is not served"),
        ("POST", "Observation", b'{"x":' + b"[" * 900 + b"]" * 900 + b"}", 422, "20 levels"),
    ],
)  # fmt: skip
async def test_hostile_requests_are_answered_with_an_operation_outcome(method, path, body, status, words):
    patient = samples()["age_1"].metadata["patient"]
    async with serving() as (chart, url), ClientSession() as session:
        address = URL(f"{url}/{path.format(patient)}", encoded=True)
        async with session.request(method, address, data=body) as reply:
            text = await reply.text()
    assert (reply.status, reply.content_type) == (status, "application/fhir+json") and words in text
    assert chart.created == [] and ("OperationOutcome" in text) is (status >= 400) and "\x1b" not in text


async def test_a_server_keeps_so_many_resources():
    async with serving() as (chart, url), ClientSession() as session:
        chart.created = [{}] * 10_000
        async with session.post(f"{url}/Observation", json=VITALS) as reply:
            assert reply.status == 422 and "10,000 resources are kept at most" in await reply.text()


async def test_an_acknowledged_post_is_neither_checked_nor_sent_nor_kept():
    async with answering(500, b"") as (url, asked):
        for place in (None, url):
            offer = toolset(base_url=place, posts="acknowledge").open(samples()["age_1"])
            seen = await offer.tools["Observation_Create"](Context(offer.state), status="done")
            assert "accepted" in seen.text and not getattr(offer.state, "created", [])
            assert seen.data == {"method": "POST", "resource": "Observation", "status": 200, "body": {"status": "done"}, "shared": False}  # fmt: skip
        assert asked == []


async def test_a_resource_that_is_created_without_a_content_in_the_answer_is_created():
    async with answering(201, b"") as (url, asked):
        offer = toolset(base_url=url).open(samples()["age_1"])
        seen = await offer.tools["Observation_Create"](Context(offer.state), **VITALS)
        assert "It was created" in seen.text and asked == ["POST"]
        assert seen.data == {"method": "POST", "resource": "Observation", "status": 201, "body": VITALS, "shared": True}


async def test_a_post_without_an_answer_is_an_error_since_it_may_have_been_created():
    async with answering(200, b"", wait=0.3) as (url, asked):
        offer = Fhir(http=Web(retries=3, timeout_seconds=0.1), base_url=url).open(samples()["age_1"])
        with pytest.raises(ModelError, match=r"unavailable: no answer within 0\.1 s"):
            await offer.tools["Observation_Create"](Context(offer.state), **VITALS)
        assert asked == ["POST"]


async def test_the_loop_runs_while_a_chart_is_searched():
    offer = toolset().open(samples()["age_1"])
    search = asyncio.create_task(offer.tools["Patient_Search"](Context(offer.state), name="a"))
    await asyncio.sleep(0)
    assert not search.done() and (await search).data["status"] == 200


@each_row(
    "status, body, words",
    [
        (200, b"<html>", "its answer with status 200 is no FHIR resource"), (200, b"[]", "status 200 is no FHIR resource"),
        (404, b"{}", "status 404 is no FHIR"), (503, b"", "status 503"), (302, b"", "status 302"),
        (401, b'{"resourceType": "OperationOutcome"}', "refused access"), (403, b"{}", "refused access"),
        (200, b'{"resourceType": 3}', "no FHIR resource"), (404, b"", "no FHIR resource"),
        (200, b'{"resourceType": "X", "x": ' + b"[" * 900 + b"]" * 900 + b"}", "no FHIR resource"), (200, b"x" * (9 << 20), "larger than"),
    ],
)  # fmt: skip
async def test_an_outage_is_an_error_of_the_episode_and_refused_before_the_run(status, body, words):
    async with answering(status, body) as (url, _):
        tools = toolset(base_url=url)
        offer = tools.open(samples()["age_1"])
        with pytest.raises(ModelError, match=f"the FHIR server {url} is unavailable: .*{words}") as found:
            await offer.tools["Patient_Search"](Context(offer.state), name="x")
        assert found.value.kind == "fhir_server"
        with pytest.raises(ConfigError, match=f"base_url: the FHIR server {url} is unavailable: .*{words}"):
            await asyncio.to_thread(tools.traits.prepare, [])


async def test_a_server_that_breaks_off_or_is_not_there_is_an_outage_too():
    async def cut(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"resou')
        writer.close()

    server = await asyncio.start_server(cut, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/fhir"
    for words in ("the connection failed", "no connection"):
        with pytest.raises(ModelError, match=words):
            await Server(url, Web(retries=0)).search("Patient", [])
        server.close()
        await server.wait_closed()


@each_row(
    "status, kind, is_refused",
    [(404, "OperationOutcome", True), (200, "OperationOutcome", True), (200, "Bundle", False), (400, "OperationOutcome", False)],
)  # fmt: skip
async def test_the_probe_refuses_what_cannot_be_searched(status, kind, is_refused):
    async with answering(status, json.dumps({"resourceType": kind}).encode()) as (url, asked):
        with (
            pytest.raises(ConfigError, match=f"status {status} and 'OperationOutcome'") if is_refused else nullcontext()
        ):
            await Server(url, Web()).probe()
        assert asked == ["GET"]


async def test_a_post_is_sent_once_although_searches_are_tried_again():
    async with answering(503, b"") as (url, asked):
        offer = toolset(base_url=url).open(samples()["age_1"])
        with pytest.raises(ModelError, match="status 503"):
            await offer.tools["Observation_Create"](Context(offer.state), **VITALS)
        assert asked == ["POST"]


async def test_an_export_holds_the_servers_resources(tmp_path, capsys):
    async with serving() as (chart, url):
        chart.create(
            "Observation", {**VITALS, "subject": {"reference": f"Patient/{samples()['age_1'].metadata['patient']}"}}
        )
        assert await asyncio.to_thread(export.main, [f"{url}/", str(tmp_path)]) == 0
        assert await asyncio.to_thread(export.main, [url, str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "Observation: 772 resources" in printed.out and f"written to {tmp_path}\n" in printed.out
    assert printed.err == f"error: {tmp_path} is not empty; name a new folder\n"
    again = open_world(tmp_path)
    assert [sum(1 for _ in again.find(kind)) for kind in ("Patient", "Observation", "ServiceRequest")] == [41, 772, 0]


@each_row(
    "body, words",
    [
        (b"x", "error: base_url: the FHIR server http"), (b'{"resourceType": "Patient"}', "'Patient'; it must be a Bundle"),
        (b'{"resourceType": "Bundle", "entry": [{"resource": {"id": "a"}}, {"resource": {"id": "a"}}]}', "sends Patient/a twice"),
        (b'{"resourceType": "Bundle", "link": [{"relation": "next", "url": "http://other.host/x"}]}', "to 'http://other.host/x'; it must be"),
        (b'{"resourceType": "Bundle", "link": [{"relation": "next", "url": "\\u001b[1m"}]}', r"page 2 of Patient to '\x1b[1m'"),
    ],
)  # fmt: skip
async def test_an_export_of_something_else_is_refused(tmp_path, capsys, body, words):
    async with answering(200, body) as (url, _):
        assert await asyncio.to_thread(export.main, [url, str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]  # half of the resources are not taken for all


async def test_an_export_follows_no_redirect(tmp_path, capsys):
    async with answering(200, b"{}") as (other, asked), answering(302, b"", {"Location": other}) as (url, _):
        assert await asyncio.to_thread(export.main, [url, str(tmp_path)]) == 2
    assert "it answered with status 302" in capsys.readouterr().err and asked == []


async def test_an_export_ends_where_pages_go_round(tmp_path, capsys):
    async def answer(request):
        return web.json_response({"resourceType": "Bundle", "link": [{"relation": "next", "url": str(request.url)}]})

    app = web.Application()
    app.router.add_get("/fhir/{kind}", answer)
    runner, url = await endpoint.listen(app, "127.0.0.1", 0)
    url = f"{url}/fhir"
    assert await asyncio.to_thread(export.main, [url, str(tmp_path)]) == 2
    await runner.cleanup()
    assert "it must be a new one of its own" in capsys.readouterr().err
    assert export.main(["ftp://x", str(tmp_path)]) == 2 and "base_url must be like" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="unavailable: no connection"):
        await export.export(URL(url), tmp_path, Web(retries=0))


def test_a_folder_that_is_no_world_is_not_served(tmp_path, capsys):
    assert main(["--world", str(tmp_path)]) == 2 and "no FHIR resources at" in capsys.readouterr().err
