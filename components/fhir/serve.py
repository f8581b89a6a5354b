"""The project's FHIR R4 server over HTTP: ``python -m components.fhir.serve [--world PATH] [--port 8080]``.

It serves the resources of a file or folder, by default those of fhir_mini, and keeps what is posted until it ends.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson
from aiohttp import web

from components.core.errors import ConfigError
from components.core.messages import JSON
from components.fhir.search import PARAMETERS, Refused
from components.fhir.world import CREATED, Chart, Reply, open_world, refusal
from components.serving import endpoint

MINI = Path(__file__).parent / "fhir_mini" / "world.jsonl"
_LARGEST, _MOST_CREATED = 1 << 17, 10_000  # bytes of a request; resources that are kept


def application(chart: Chart) -> web.Application:
    """The server of a chart, below /fhir."""

    async def search(request: web.Request) -> web.Response:
        base, pairs = f"{request.scheme}://{request.host}/fhir", list(request.query.items())
        return _answer(await asyncio.to_thread(chart.search, request.match_info["resource"], pairs, base))

    async def read(request: web.Request) -> web.Response:
        return _answer(await asyncio.to_thread(chart.read, request.match_info["resource"], request.match_info["id"]))

    async def create(request: web.Request) -> web.Response:
        if len(chart.created) >= _MOST_CREATED:
            return _answer(refusal(Refused(f"{_MOST_CREATED:,} resources are kept at most", 422, "too-costly")))
        try:
            body = orjson.loads(await request.read())
        except ValueError as error:
            return _answer(refusal(Refused(f"the body is not JSON: {error}", code="structure")))
        return _answer(chart.create(request.match_info["resource"], body))

    async def metadata(_: web.Request) -> web.Response:
        return _answer(Reply(200, _capabilities()))

    app = web.Application(client_max_size=_LARGEST)
    app.router.add_get("/fhir/metadata", metadata)
    app.router.add_get("/fhir/{resource}", search)
    app.router.add_get("/fhir/{resource}/{id}", read)
    app.router.add_post("/fhir/{resource}", create)
    return app


def _capabilities() -> JSON:
    """What the server can do, which other programs ask first."""
    resources = [
        {
            "type": kind,
            "interaction": [{"code": code} for code in ("read", "search-type", "create")[: 2 + (kind in CREATED)]],
            "searchParam": [
                {"name": name, "type": "string" if of == "name" else of} for name, (of, *_) in parameters.items()
            ],
        }
        for kind, parameters in PARAMETERS.items()
    ]
    facts = {"status": "active", "date": "2026-03-02", "kind": "instance", "fhirVersion": "4.0.1", "format": ["json"]}
    return {"resourceType": "CapabilityStatement", **facts, "rest": [{"mode": "server", "resource": resources}]}


def _answer(found: Reply) -> web.Response:
    body = orjson.dumps(found.body)
    return web.Response(body=body, status=found.status, content_type="application/fhir+json", charset="utf-8")


async def _serve(chart: Chart, host: str, port: int) -> None:
    _, url = await endpoint.listen(application(chart), host, port)
    sys.stdout.write(f"{url}/fhir\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until it is interrupted; the exit code."""
    prog = "python -m components.fhir.serve"
    parser = argparse.ArgumentParser(prog=prog, description="A FHIR R4 server of a folder.")
    parser.add_argument("--world", type=Path, default=MINI, help="NDJSON, a Bundle, or a folder of such files")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8080, help="port; 0 picks a free one")
    options = parser.parse_args(arguments)
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(Chart(open_world(options.world)), options.host, options.port))
    except (ConfigError, OSError, OverflowError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
