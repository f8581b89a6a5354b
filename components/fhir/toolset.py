"""Tools over a FHIR server: of the process, with a state per sample, or one that is reached over HTTP.

Source: Jiang et al. 2025 (MedAgentBench), NEJM AI, arXiv 2501.14654: nine functions over a FHIR R4 API, which its
release lists in ``funcs_v1.json``; a file in this layout gives the tools other cards. Departures: what is posted is
validated and changes the sample's state, where the benchmark answers that any JSON was accepted and leaves the server
as it is (``posts=acknowledge``); functions are called as tools, not as lines of text.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from components import web
from components.core.errors import ConfigError, ToolError
from components.core.messages import JSON, ToolSpec
from components.core.tools import Context, Effect, Offer, Tool
from components.core.traits import ToolsetTraits, ToolTraits
from components.core.types import Observation, Privacy, Sample
from components.fhir.remote import Server
from components.fhir.search import MANY, PARAMETERS, patient_in
from components.fhir.validation import outcome, standard_form
from components.fhir.world import CREATED, Chart, Reply, open_world
from components.files.rows import read_json
from components.text.structured import read_yaml

Method = Literal["GET", "POST"]
_SERVED = {"GET": tuple(PARAMETERS), "POST": CREATED}
_FUNCTION = re.compile(r"(GET|POST) \{api_base\}/(\w+)")
_ACCEPTED = outcome(("informational", "The request was accepted.", ""), severity="information")
_TITLE = re.compile(r"(\w+)\.(\w+)(?: \(([\w ]+)\))?")
_RESULT: JSON = {
    "_count": {"type": "integer", "description": "resources of a page, at most 1000; 20 without it"},
    "_sort": {"type": "string", "description": "a parameter, with a minus from the last to the first: -date"},
    "_offset": {"type": "integer", "description": "resources to leave out: where the next page begins"},
}


@dataclass(frozen=True)
class Function:
    """A search or a creation as a tool. ``data`` of its observations, of failed ones too: ``method``, ``resource``,
    ``status`` (none where nothing was sent), and of a post ``body``, as the model wrote it, and ``shared`` where it
    reaches a server that all samples share. Raises ToolError with the OperationOutcome; bad_arguments. An
    outage of the server is its ModelError."""

    spec: ToolSpec
    method: Method
    resource: str
    server: Server | None
    acknowledges: bool

    @property
    def effect(self) -> Effect:
        """A server's answers are journalled; a post changes the state of the process."""
        return "external" if self.server else "episode" if self.method == "POST" else "pure"

    @property
    def traits(self) -> ToolTraits:
        """Which server it asks."""
        server = self.server
        return ToolTraits(identity=f"{server.base_url} acknowledges={self.acknowledges}" if server else "")

    async def __call__(self, context: Context, /, **arguments: Any) -> Observation:
        """Send the request."""
        data: dict[str, Any] = {"method": self.method, "resource": self.resource}
        try:
            orjson.dumps(arguments)
        except TypeError as error:  # too deep, numbers above 64 bits, halves of characters
            raise ToolError(f"This cannot be written as JSON: {error}.", "bad_arguments", data) from None
        if self.method == "POST":
            data |= {"body": arguments, "shared": self.server is not None and not self.acknowledges}
        reply = await self._ask(context, arguments, data)
        data["status"], text = reply.status, orjson.dumps(reply.body).decode()
        if reply.status >= 400:
            raise ToolError(text, f"http_{reply.status}", data)
        return Observation(text, data)

    async def _ask(self, context: Context, arguments: JSON, data: JSON) -> Reply:
        """The answer of the server, or of the sample's chart: a scan may take long, so it leaves the loop."""
        chart = cast(Chart, context.state)
        if self.method == "POST":
            if self.acknowledges:
                return Reply(200, _ACCEPTED)
            body = standard_form(arguments)
            return await self.server.create(self.resource, body) if self.server else chart.create(self.resource, body)
        pairs = [(name, text) for name, value in arguments.items() for text in _texts(name, value, data)]
        if self.server:
            return await self.server.search(self.resource, pairs)
        return await asyncio.to_thread(chart.search, self.resource, pairs)


@dataclass(frozen=True)
class Fhir:
    """The functions of the benchmark over the world of each sample, or over the server at ``base_url``.

    ``functions``: a file in the layout of funcs_v1.json with other cards; null = the project's. ``posts``: apply = what
    is created is validated and can be found afterwards; acknowledge = any is answered as accepted, nothing is
    checked and nothing changes. ``permits``: data classes, in addition to open ones, that the server may receive.
    Raises ConfigError.
    """

    http: web.Web
    base_url: str | None = None
    functions: str | None = None
    posts: Literal["apply", "acknowledge"] = "apply"
    permits: Sequence[Privacy] = ()

    def __post_init__(self) -> None:
        if self.base_url is not None:
            web.base(self.base_url)
        if not self.tools:
            raise ConfigError(f"functions: {self.functions} lists none")

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The functions by their names. Raises ConfigError."""
        path = Path(self.functions or Path(__file__).with_name("functions.yaml"))
        try:
            rows = read_yaml(path) if self.functions is None else read_json(path)
        except OSError as error:
            raise ConfigError(f"functions: {path} cannot be read: {error.strerror}") from None
        if not isinstance(rows, list):
            raise ConfigError(f"functions: {path} must be a list, found {rows!r:.80}")
        named = [self._function(row, f"functions: {path}: entry {n}") for n, row in enumerate(rows, 1)]
        often = Counter(short for short, _ in named)
        made = [one if often[short] > 1 else replace(one, spec=replace(one.spec, name=short)) for short, one in named]
        return {one.spec.name: one for one in made}

    def _function(self, row: Any, place: str) -> tuple[str, Function]:
        """The tool of an entry, and its name without what its title has in brackets. Raises ConfigError."""
        schema: Any = row.get("parameters") if isinstance(row, Mapping) else None
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else None
        if not isinstance(properties, Mapping) or not all(isinstance(one, Mapping) for one in properties.values()):
            raise ConfigError(f"{place} must have name, description and parameters, found {row!r:.80}")
        found, title = _FUNCTION.fullmatch(str(row.get("name"))), _TITLE.match(text := str(row.get("description")))
        if found is None or title is None or found[2] not in _SERVED[found[1]]:
            raise ConfigError(
                f"{place} must be named like 'GET {{api_base}}/Patient' and described like 'Patient.Search ...',"
                f" found {row.get('name')!r:.60} and {text!r:.60}"
            )
        name = "_".join(part.replace(" ", "_") for part in title.groups() if part)
        if (method := cast(Method, found[1])) == "GET":
            schema = {**schema, "properties": {**properties, **_RESULT}}
        else:
            schema = {**schema, "additionalProperties": True}  # the standard decides
        return f"{title[1]}_{title[2]}", Function(
            ToolSpec(name, text, schema), method, found[2], self._server, self.posts != "apply"
        )

    @cached_property
    def _server(self) -> Server | None:
        return None if self.base_url is None else Server(self.base_url, self.http)

    @property
    def traits(self) -> ToolsetTraits:
        """Its tools, what the server may receive, whether what is created stays, and a probe of the server."""
        shared = self.base_url is not None and self.posts == "apply"
        notes = [f"all samples write to the same server, {self.base_url}"] if shared else []
        notes += ["what is created is acknowledged and not kept (posts: acknowledge)"] if self.posts != "apply" else []
        prepare = (lambda _: asyncio.run(server.probe())) if (server := self._server) else None
        return ToolsetTraits(tools=self.tools, permits=self.permits, notes=notes, prepare=prepare)

    def open(self, sample: Sample) -> Offer:
        """Open the sample's world, or the server. Raises ConfigError for a sample without one."""
        offer = Offer(self.tools, facts={"tools": dict.fromkeys(self.tools, "fhir"), "toolset": list(self.tools)})
        if self.base_url is not None:
            return offer
        if (path := sample.files.get("world")) is None:
            raise ConfigError(
                f"toolset=fhir: sample {sample.problem.id!r} has no FHIR resources; give toolset.base_url, or"
                " dataset.world for medagentbench, or choose a dataset that has them (fhir_mini)"
            )
        return replace(offer, state=Chart(open_world(Path(path))))


def _texts(name: str, value: Any, data: JSON) -> list[str]:
    """A parameter as texts: a list repeats it. Raises ToolError."""
    values = value if isinstance(value, list) else [value]
    if len(values) > MANY or any(isinstance(one, dict | list) or one is None for one in values):
        text = f"{name} must be a text, or a list of at most {MANY}, found {value!r:.60}."
        raise ToolError(text, "bad_arguments", data)
    texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
    return [patient_in(one) or one for one in texts] if name == "patient" else texts
