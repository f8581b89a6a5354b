"""The one live model: limits, retries, timeout and prices around two transports that give the same completions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cached_property, partial
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval, MinLen

from components.core.errors import ConfigError, ModelError
from components.core.messages import Completion, Request, Sampling
from components.core.redaction import without_key
from components.core.traits import ModelTraits
from components.core.types import Privacy
from components.models.deadlines import Deadlines
from components.models.endpoints import NOT_EXTRA, Endpoint, Transports, key_in_environment
from components.models.faults import Fault
from components.models.limits import Limiter, Minute, estimate
from components.models.prices import PriceRow, look_up, stated
from components.models.retired import Retired
from components.models.retries import Retries

Positive = Annotated[int, Ge(1)]
Amount = Annotated[float, Interval(ge=0, lt=float("inf"))]
_HINTS = {
    "auth": "check the key: model.api_key_env names the environment variable it is read from",
    "bad_request": "check model.name, model.api_base (it usually ends in /v1) and the sampling parameters",
    "connection": "check model.api_base and that something listens there",
    "context_window": "shorten what is sent, or lower model.max_tokens",
    "quota": "the account's quota is used up",
    "rate_limit": "lower model.max_connections, or set model.requests_per_minute or model.tokens_per_minute",
    "timeout": "raise model.timeout_seconds, or lower model.max_connections",
}


@dataclass(frozen=True)
class Stats:
    """What a model did so far. ``connections``: sockets opened, None where a library hides them.

    ``limit`` is the number of calls allowed at once now, ``lowest_limit`` the least it came down to
    by 429s (``throttles``). ``waited_seconds`` is the sum over calls, ``retries`` kind -> number.
    """

    calls: int
    failed: int
    retries: Mapping[str, int]
    throttles: int
    in_flight: int
    peak_in_flight: int
    limit: int
    lowest_limit: int
    connections: int | None
    waited_seconds: float


@dataclass
class Count:
    """Calls made, and those that got no reply."""

    calls: int = 0
    failed: int = 0


@dataclass(frozen=True, eq=False)
class Gateway:
    """A model behind an endpoint. Nothing is opened and nothing heavy imported before the first call.

    What is sent is the request alone, sampling included: the caller merges ``sampling`` into it.
    Raises: ConfigError at construction, ModelError from ``generate`` after ``retries`` retries.

    Args:
        name: the model as the provider calls it.
        provider: litellm's prefix; also ``vllm`` and ``ollama``. Empty: ``name`` is a whole litellm
            model string, or ``api_base`` an endpoint that speaks chat completions.
        transport: ``auto`` is direct wherever chat completions are spoken and litellm elsewhere.
        api_key_env: the environment variable that holds the key.
        price: USD per million tokens, ``{input: ..., output: ...}``, in place of the price table.
        permits: data classes in addition to ``open`` that the endpoint may receive.
        deterministic: the same request at temperature 0 always gets the same reply.
        send_seed: send each request's seed, where the provider takes one; extra: further sampling parameters.
        takes_images: None: as in the price table, and where it has no row, yes.
        context: tokens of the window; None: as in the price table.
        retired: the end of its service, from which the configuration is refused.
    """

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
        if wrong := sorted(NOT_EXTRA & set(self.extra)):
            raise ConfigError(f"model.extra holds further sampling parameters, found {wrong}, which are set elsewhere")
        if self.retired is not None:
            self.retired.refuse(self.name, date.today())
        self._endpoint.check()
        _ = self._key
        if self.price is not None:
            stated(self.price, PriceRow(None, None, None, "model.price"))

    @property
    def kind(self) -> Literal["simulated", "live"]:
        """Live: somewhere, a model answers."""
        return "live"

    @property
    def in_process(self) -> bool:
        """False: requests leave this process."""
        return False

    @cached_property
    def identity(self) -> str:
        """The name and what else changes the answers, apart from the request's own content."""
        return self.name if self.send_seed else f"{self.name} without seed"

    @cached_property
    def sampling(self) -> Sampling:
        """The configured sampling parameters."""
        return Sampling(self.temperature, self.top_p, self.max_tokens, extra=dict(self.extra))

    @property
    def endpoint(self) -> str:
        """Where requests go, without path and credentials."""
        return self._endpoint.shown

    @cached_property
    def price_row(self) -> Mapping[str, Any]:
        """The price used and where it is from, for a manifest; ``reason``: why there is none."""
        return self._price_row.facts | {"context_tokens": self.context_tokens}

    @property
    def vision(self) -> bool:
        """Whether the model takes images."""
        return (self._price_row.vision if self.takes_images is None else self.takes_images) is not False

    @property
    def context_tokens(self) -> int | None:
        """The size of the context window, as configured or where the price table knows it."""
        return self._price_row.context_tokens if self.context is None else self.context

    @property
    def traits(self) -> ModelTraits:
        """What the runner reads of the model."""
        return ModelTraits(
            vision=self.vision, price=self.price_row, context_tokens=self.context_tokens,
            requests_per_minute=self.requests_per_minute, tokens_per_minute=self.tokens_per_minute,
            counters=lambda: asdict(self.stats),
        )  # fmt: skip

    @property
    def stats(self) -> Stats:
        """The current counters."""
        limiter, retries = self._limiter, self._retries
        return Stats(
            calls=self._count.calls,
            failed=self._count.failed,
            retries=dict(retries.by_kind),
            throttles=limiter.throttles,
            in_flight=limiter.in_flight,
            peak_in_flight=limiter.peak,
            limit=int(limiter.limit),
            lowest_limit=limiter.lowest,
            connections=self._transports.connections,
            waited_seconds=limiter.waited_seconds + retries.waited_seconds,
        )

    async def generate(self, request: Request) -> Completion:
        """The model's reply. Raises ModelError."""
        self._count.calls += 1
        try:
            return await self._retries.run(partial(self._attempt, request))
        except Fault as fault:
            self._count.failed += 1
            raise ModelError(self._story(fault, request), fault.kind) from None

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._transports.close()

    async def _attempt(self, request: Request) -> Completion:
        limiter = self._limiter
        ticket = await limiter.acquire(estimate(request) if self.tokens_per_minute else 0)
        tokens = None
        try:
            with self._deadlines.watch():
                completion = without_key(await self._transports.chosen.call(request), self._key)
            usage = completion.usage
            if usage.input_tokens is not None:
                tokens = usage.input_tokens + (usage.output_tokens or 0)
            limiter.succeeded(ticket)
            return completion
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise Fault("unreadable", f"the reply has a form that cannot be read: {type(error).__name__}") from None
        except TimeoutError:
            raise Fault("timeout", f"no reply within {self.timeout_seconds:g} seconds") from None
        except Fault as fault:
            if fault.kind == "rate_limit":
                limiter.throttled(ticket, fault.retry_after if fault.retryable else None)
                tokens = 0
            raise
        finally:
            limiter.release(ticket, tokens)

    def _story(self, fault: Fault, request: Request) -> str:
        text = f"{self.name} at {self.endpoint}: {fault.explain(request, (self._key,))}"
        if fault.retryable and self.retries:
            text += f"; gave up after {self.retries + 1} attempts"
        hint = _HINTS.get(fault.kind)
        return f"{text}; {hint}" if hint else text

    @cached_property
    def _endpoint(self) -> Endpoint:
        return Endpoint(self.name, self.provider, self.transport, self.api_base)

    @cached_property
    def _key(self) -> str:
        return key_in_environment(self.name, self.api_key_env, self.key_optional)

    @cached_property
    def _price_row(self) -> PriceRow:
        row = look_up(self._endpoint.name, self._endpoint.price_provider)
        return row if self.price is None else stated(self.price, row)

    @cached_property
    def _transports(self) -> Transports:
        settings = (self._endpoint, self._key, self.key_optional, self.send_seed, self.timeout_seconds)
        return Transports(*settings, lambda: self._price_row.price)

    @cached_property
    def _limiter(self) -> Limiter:
        requests, tokens = self.requests_per_minute, self.tokens_per_minute
        return Limiter(self.max_connections, Minute(requests) if requests else None, Minute(tokens) if tokens else None)

    @cached_property
    def _retries(self) -> Retries:
        return Retries(self.retries, f"{self.name} at {self.endpoint}")

    @cached_property
    def _deadlines(self) -> Deadlines:
        return Deadlines(self.timeout_seconds)

    @cached_property
    def _count(self) -> Count:
        return Count()
