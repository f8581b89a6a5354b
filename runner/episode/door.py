"""The door to the models, shared by all episodes of a run: models, journal, budget of the run, calls in flight."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias

import orjson

from components.core.errors import OVERFLOW, ModelError, RunLimitReached
from components.core.messages import Completion, Message, Request, ToolCall, Usage
from components.core.protocols import Model
from components.core.redaction import redact
from runner.episode.budget import Budget, BudgetPool, Spent
from runner.storage.journal import Journal
from runner.storage.replay_miss import explain_miss

_MAX_NAMES = 100  # of models that answered: a server may invent one for every reply


def padded(name: str) -> str:
    """A branch's name such that draw/10 sorts after draw/9."""
    return re.sub(r"\d+", lambda match: match[0].zfill(6), name)


InFlight: TypeAlias = dict[bytes, "asyncio.Future[Completion | None] | None"]  # None: nobody else waits for it


class Door:
    """Answers model calls; the jobs of a sweep share a budget pool and calls in flight."""

    def __init__(
        self,
        models: Mapping[str, Model],
        journal: Journal | None,
        *,
        run_seed: int,
        budget_pool: BudgetPool | None = None,
        replay: bool = False,
        in_flight: InFlight | None = None,
    ) -> None:
        self.models, self.journal, self.run_seed, self.replay = models, journal, run_seed, replay
        self.budget_pool = BudgetPool(Budget()) if budget_pool is None else budget_pool
        self.spent = Spent()
        self.answered_by: set[tuple[str, str]] = set()  # role, and the name of the model as its server reports it
        self.replayed = 0  # calls that the journal answered, or the same call in flight
        self.separate_calls = 0  # calls in separate episodes of other agents (``Episode.run_separately``)
        self._in_flight: InFlight = {} if in_flight is None else in_flight
        self._heads = {role: (model.identity + "\0").encode() for role, model in models.items()}

    def model(self, role: str) -> tuple[str, Model]:
        """The role and its model: ``main`` for a role that the config does not name."""
        role = role if role in self.models else "main"
        return role, self.models[role]

    def digest(self, role: str, request_tail: bytes, messages: Sequence[bytes]) -> bytes:
        """Digest of everything that is sent, without the place, from the digests of the messages."""
        return sha256(self._heads[role] + request_tail + b"".join(messages)).digest()

    def key(self, model: Model, digest: bytes, request: Request, place: bytes) -> bytes:
        """The journal's key; the place leaves it only for a deterministic model at temperature 0."""
        if model.deterministic and request.sampling.temperature == 0:
            return digest
        return sha256(digest + place).digest()

    async def call(self, role: str, request: Request, key: bytes, n: int) -> tuple[Completion, bool]:
        """Answer a request from the journal, the same call in flight, or the model. Returns the completion and whether
        it was sent before. Raises ModelError, RunLimitReached before anything is sent."""
        model, completion = self.models[role], None
        while True:
            if self.journal is not None and (payload := self.journal.get(key)) is not None:
                completion = _completion(orjson.loads(payload)["reply"])
                break
            if self.replay:
                raise self._missing(model, request, key, n)
            if key in self._in_flight:
                future = self._in_flight[key] = self._in_flight[key] or asyncio.get_running_loop().create_future()
                if (completion := await asyncio.shield(future)) is not None:
                    break
            elif self.budget_pool.blind(self.spent):
                self.budget_pool.back.clear()
                await self.budget_pool.back.wait()
            else:
                break
        if known := completion is not None:
            self.replayed += 1
        elif limit := self.budget_pool.limit(self.spent):
            raise RunLimitReached(f"budget.run.{limit} is reached")
        else:
            completion = await self._send(model, request, key, n)
        if len(self.answered_by) < _MAX_NAMES:
            self.answered_by.add((role, completion.model))
        return completion, known

    def _missing(self, model: Model, request: Request, key: bytes, n: int) -> ModelError:
        """What a strict replay fails with: as the model did where the journal has no reply, or the first difference."""
        assert self.journal is not None, "replay is checked to have a journal"
        if (payload := self.journal.get(_overflow_key(key))) is not None:
            self.replayed += 1
            return ModelError(orjson.loads(payload)["overflow"], OVERFLOW)
        sources = [message.source for message in request.messages]
        return ModelError(explain_miss(self.journal, _head(model, request, n), sources), "replay_miss")

    async def _send(self, model: Model, request: Request, key: bytes, n: int) -> Completion:
        """Ask the model and record its reply; identical requests meanwhile wait for it."""
        if self.journal is not None:
            self.journal.reserve()
        self._in_flight[key] = None
        spent, total = self.spent, self.budget_pool.total
        spent.pending += 1
        total.pending += 1
        outcome: Completion | ModelError | None = None  # for those that wait for it; None: one of them asks again
        try:
            try:
                completion = await model.generate(request)
            finally:
                self.budget_pool.back.set()
                spent.pending -= 1
                total.pending -= 1
            spent.charge(completion.usage)
            total.charge(completion.usage)
            if self.journal is not None:
                self.journal.put(key, orjson.dumps({**_head(model, request, n), "reply": _reply(completion)}))
            outcome = completion
            return completion
        except ModelError as error:
            if error.kind == OVERFLOW and self.journal is not None:
                entry = {**_head(model, request, n), "overflow": str(error)}
                self.journal.put(_overflow_key(key), orjson.dumps(entry))
            outcome = error
            raise
        finally:
            if (waiting := self._in_flight.pop(key)) is not None:
                if isinstance(outcome, ModelError):
                    waiting.set_exception(outcome)
                else:
                    waiting.set_result(outcome)


def _overflow_key(key: bytes) -> bytes:
    """The key of a request that was too long; only a replay reads it: a server may have a larger window later."""
    return sha256(key + b"overflow").digest()


@lru_cache(maxsize=64)
def _sampling_text(wire: bytes) -> str:
    """Sampling parameters as the journal may hold them: ``extra`` can be anything."""
    return redact(wire.decode())


def _head(model: Model, request: Request, n: int) -> dict[str, Any]:
    """The head of an entry: enough of the request to name a difference, never the request itself."""
    return {
        "at": [request.sample_id, request.epoch, request.branch, n],
        "purpose": request.purpose,
        "role": request.role,
        "model": model.identity,
        "sampling": _sampling_text(request.sampling.wire),
        "tools": request.tools.name if request.tools else "",
        "digests": [m.digest[:8].hex() for m in request.messages],
    }


def _reply(completion: Completion) -> dict[str, Any]:
    message, usage, finish, logprobs, model = completion
    reply: dict[str, Any] = {"content": message.content, "finish": finish, "usage": [*usage]}
    if message.tool_calls:
        reply["tool_calls"] = [[*call] for call in message.tool_calls]
    if message.reasoning:
        reply["reasoning"] = message.reasoning
    if logprobs is not None:
        reply["logprobs"] = logprobs
    if model:
        reply["model"] = model
    return reply


def _completion(reply: Mapping[str, Any]) -> Completion:
    calls = tuple(ToolCall(*call) for call in reply.get("tool_calls", ()))
    message = Message("assistant", reply["content"], tool_calls=calls, reasoning=reply.get("reasoning"))
    return Completion(message, Usage(*reply["usage"]), reply["finish"], reply.get("logprobs"), reply.get("model", ""))
