"""The one live model: limits, retries, timeout and prices around two transports that give the same completions."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Interval, MinLen

from components.core.errors import ConfigError, ModelError
from components.core.messages import Completion, Request, Sampling
from components.core.open_files import allow_open_files
from components.core.redaction import without_key
from components.core.traits import ModelTraits
from components.core.types import Privacy
from components.models import endpoints, prices
from components.models.endpoints import Endpoint, Retired
from components.models.limits import Deadlines, Limiter, Minute, Retries, estimate
from components.models.prices import PriceRow, configured_price
from components.models.replies import Fault, NothingListens

if TYPE_CHECKING:
    from components.models.litellm_chat import LitellmChat
    from components.models.openai_chat import OpenAIChat

Positive = Annotated[int, Ge(1)]
Amount = Annotated[float, Interval(ge=0, lt=float("inf"))]
_HINTS = {
    "auth": "check the key: model.api_key_env names the environment variable it is read from",
    "bad_request": "check model.name, model.api_base (it usually ends in /v1) and the sampling parameters",
    "certificate": "name the file of certificates that sign it in SSL_CERT_FILE, or correct model.api_base",
    "connection": "check model.api_base and that something listens there",
    "content_filter": "the provider's filter refused the request or its reply; another model may take it",
    "context_window": "shorten what is sent, or lower model.max_tokens",
    "quota": "the account's quota is used up",
    "rate_limit": "lower model.max_connections, or set model.requests_per_minute or model.tokens_per_minute",
    "redirect": "set model.api_base to the address that it points to, if that is your server",
    "timeout": "raise model.timeout_seconds, or lower model.max_connections",
    "too_large": "raise model.max_reply_mb, or see what answers at model.api_base",
}


@dataclass(eq=False)
class Gateway:
    """A model behind an endpoint. Nothing is opened and nothing heavy imported before the first call.

    Only the request is sent: the caller merges ``sampling`` into it. Raises ConfigError at construction.

    Args:
        name: the model as the provider calls it.
        provider: litellm's prefix; also ``vllm`` and ``ollama``. Empty: ``name`` is a whole litellm
            model string, or ``api_base`` an endpoint that speaks chat completions.
        transport: ``auto`` is direct wherever chat completions are spoken and litellm elsewhere.
        max_reply_mb: 2**20 bytes; a longer reply is refused while it arrives, by litellm after that.
        price: USD per million tokens, ``{input: ..., output: ...}``, in place of the price table.
        permits: data classes in addition to ``open`` that the endpoint may receive.
        deterministic: the same request at temperature 0 always gets the same reply.
        send_seed: send each request's seed, where the provider takes one; extra: further sampling parameters.
        takes_images, context (tokens): None: as in the price table; images also where it has no row.
    """

    kind: ClassVar[Literal["simulated", "live"]] = "live"
    in_process: ClassVar[bool] = False

    name: Annotated[str, MinLen(1)]
    provider: str = ""
    transport: Literal["auto", "direct", "litellm"] = "auto"
    api_base: str | None = None
    api_key_env: str | None = None
    key_optional: bool = False
    max_connections: Positive = 100
    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Positive | None = None
    timeout_seconds: Annotated[float, Interval(ge=1e-3, lt=float("inf"))] = 120.0
    retries: Annotated[int, Ge(0)] = 6
    max_reply_mb: Annotated[int, Interval(ge=1, le=1024)] = 8
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    price: Mapping[str, float] | None = None
    permits: Sequence[Privacy] = ()
    deterministic: bool = False
    send_seed: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    takes_images: bool | None = None
    context: Positive | None = None
    retired: Retired | None = None

    def __post_init__(self) -> None:
        if wrong := sorted(endpoints.NOT_EXTRA & set(self.extra)):
            raise ConfigError(f"model.extra holds further sampling parameters, found {wrong}, which have other keys")
        if self.retired is not None:
            self.retired.refuse(self.name, date.today())
        allow_open_files(self.max_connections)
        self._endpoint = Endpoint(self.name, self.provider, self.transport, self.api_base)
        self._key = endpoints.key_in_environment(self.name, self.api_key_env, self.key_optional)
        if self.price is not None:
            configured_price(self.price, PriceRow(None, None, None, "model.price"))
        requests, tokens = (Minute(n) if n else None for n in (self.requests_per_minute, self.tokens_per_minute))
        self._limiter = Limiter(self.max_connections, requests, tokens)
        self._retries = Retries(self.retries, f"{self.name} at {self._endpoint.address}")
        self._deadlines = Deadlines(self.timeout_seconds)
        self._transport: OpenAIChat | LitellmChat | None = None  # opened when the first call needs it
        self._calls = self._failed = 0
        self.sampling = Sampling(self.temperature, self.top_p, self.max_tokens, extra=dict(self.extra))
        self.identity = self.name if self.send_seed else f"{self.name} without seed"

    @cached_property
    def price_row(self) -> PriceRow:
        """The price and its source, or the reason why there is none."""
        row = prices.look_up(self.name, self.provider or ("own_endpoint" if self._endpoint.direct else ""))
        return row if self.price is None else configured_price(self.price, row)

    @property
    def traits(self) -> ModelTraits:
        """What the runner reads of the model."""
        row = self.price_row
        vision = (row.vision if self.takes_images is None else self.takes_images) is not False
        context = row.context_tokens if self.context is None else self.context
        return ModelTraits(
            vision=vision, price=row.facts | {"context_tokens": context}, context_tokens=context,
            requests_per_minute=self.requests_per_minute, tokens_per_minute=self.tokens_per_minute,
            counters=self.counters,
        )  # fmt: skip

    def counters(self) -> dict[str, Any]:
        """What the model did so far: ``failed`` are calls without a reply, ``retries`` kind -> number; ``lowest_limit``
        is the least to which 429s (``throttles``) brought the ``limit`` of calls at once; ``connections`` are sockets
        opened, None where a library hides them; ``waited_seconds`` is the sum over calls."""
        limiter, retries = self._limiter, self._retries
        return {
            "calls": self._calls,
            "failed": self._failed,
            "retries": dict(retries.by_kind),
            "throttles": limiter.throttles,
            "in_flight": limiter.in_flight,
            "peak_in_flight": limiter.peak,
            "limit": int(limiter.limit),
            "lowest_limit": limiter.lowest,
            "connections": self._transport.connections if self._transport else 0,
            "waited_seconds": limiter.waited_seconds + retries.waited_seconds,
        }

    async def generate(self, request: Request) -> Completion:
        """The model's reply. Raises ModelError; ConfigError where nothing listens at an endpoint never reached."""
        self._calls += 1
        n = 0
        while True:
            try:
                return await self._attempt(request)
            except Fault as fault:
                if (delay := self._retries.note_retry(n, fault)) is None:
                    self._failed += 1
                    raise self._error(fault, request) from None
            await asyncio.sleep(delay)
            n += 1

    def _error(self, fault: Fault, request: Request) -> ModelError:
        """What a call ends with after its last fault."""
        text = f"{self.name} at {self._endpoint.address}: {fault.explain(request, (self._key,))}"
        if fault.retryable and self.retries:
            text += f"; gave up after {self.retries + 1} attempts"
        hint = _HINTS.get(fault.kind)
        return ModelError(f"{text}; {hint}" if hint else text, fault.kind)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        if self._transport is not None:
            await self._transport.close()

    async def _attempt(self, request: Request) -> Completion:
        limiter, transport = self._limiter, self._opened()
        ticket = await limiter.acquire(estimate(request) if self.tokens_per_minute else 0)
        tokens, (task, cancelling), expired = None, self._deadlines.start(), False
        try:
            try:
                completion = await transport.call(request)
            finally:
                expired = self._deadlines.end(task, cancelling)
            completion = without_key(completion, self._key)
            if (sent := completion.usage.input_tokens) is not None:
                tokens = sent + (completion.usage.output_tokens or 0)
            limiter.succeeded(ticket)
            return completion
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise Fault("unreadable", f"the reply has a form that cannot be read: {type(error).__name__}") from None
        except (TimeoutError, asyncio.CancelledError) as error:
            if expired or isinstance(error, TimeoutError):
                raise Fault("timeout", f"no reply within {self.timeout_seconds:g} seconds") from None
            raise
        except NothingListens as fault:
            raise ConfigError(self._how_to_start(fault)) from None
        except Fault as fault:
            if fault.kind == "rate_limit":
                limiter.throttled(ticket, fault.retry_after if fault.retryable else None)
                tokens = 0
            raise
        finally:
            limiter.release(ticket, tokens)

    def _how_to_start(self, fault: Fault) -> str:
        command = endpoints.STARTED_BY.get(self.provider, "").format(self.name)
        fix = "check the network" if "gaierror" in str(fault) else f"start the server{command and f' ({command})'}"
        return f"{self.name} at {self._endpoint.address}: {fault}; {fix}, or set model.api_base to where it listens"

    def _opened(self) -> "OpenAIChat | LitellmChat":
        """The transport by which this endpoint is reached."""
        if self._transport is not None:
            return self._transport
        endpoint, price, longest = self._endpoint, self.price_row.price, self.max_reply_mb << 20
        if endpoint.direct:
            from components.models.openai_chat import OpenAIChat  # its client and ssl take 0.01 s to import

            base = endpoint.base or ""
            renames = base == endpoints.OPENAI
            self._transport = OpenAIChat(base, self.name, self._key, price, self.send_seed, renames, longest)
        else:
            from components.models.litellm_chat import LitellmChat

            unlocked = self.key_optional and endpoint.provider in endpoints.SERVERS
            key = self._key or ("not-needed" if unlocked else "")  # or litellm refuses to ask a server without a lock
            settings = (endpoint.litellm_model, endpoint.base, key, price, self.timeout_seconds, self.send_seed)
            self._transport = LitellmChat(*settings, longest_reply=longest)
        return self._transport
