"""What is known of a model before any call: where it is served and by which transport, until when, and its price.

Prices and context sizes are from litellm's own table, read as a file; a model without a row has no price, never 0.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import orjson

from components.core.errors import ConfigError
from components.core.redaction import redact

OPENAI = "https://api.openai.com/v1"
_FILE = "model_prices_and_context_window_backup.json"
_NOT_MODELS = frozenset({"sample_spec", "fallback_generalizations"})
_LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
NOT_EXTRA = frozenset({"model", "messages", "tools", "stream", "n", "api_key"})
# Provider that speaks chat completions -> its usual address, and litellm's prefix for such servers.
SERVERS: Mapping[str, tuple[str, str]] = {
    "openai": (OPENAI, "openai"),
    "vllm": ("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "hosted_vllm": ("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "ollama": ("http://127.0.0.1:11434/v1", "hosted_vllm"),
}


@dataclass(frozen=True)
class Endpoint:
    """One model at one place; ``provider`` empty: chat completions, or litellm decides. Raises ConfigError."""

    name: str
    provider: str
    transport: Literal["auto", "direct", "litellm"]
    api_base: str | None

    @property
    def direct(self) -> bool:
        """Whether requests go there without litellm."""
        if self.transport == "auto":
            return self.provider in SERVERS or (not self.provider and self.api_base is not None)
        return self.transport == "direct"

    @property
    def base(self) -> str | None:
        """The address up to ``/chat/completions``; None where litellm knows it."""
        if self.api_base is not None:
            return self.api_base.rstrip("/").removesuffix("/chat/completions")
        return SERVERS.get(self.provider, (None, ""))[0]

    @property
    def litellm_model(self) -> str:
        """The model string for litellm."""
        prefix = SERVERS.get(self.provider, ("", self.provider))[1]
        return self.name if not prefix or self.name.startswith(f"{prefix}/") else f"{prefix}/{self.name}"

    @property
    def address(self) -> str:
        """The address without path and credentials, for messages."""
        if not self.base:
            return f"litellm ({self.provider or self.name.partition('/')[0]})"
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def __post_init__(self) -> None:
        if self.api_base is not None:
            parts = urlsplit(self.api_base)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                found, known = redact(self.api_base), SERVERS["vllm"][0]
                raise ConfigError(f"model.api_base must be an http(s) URL such as {known}, found {found!r}")
            if "@" in parts.netloc:
                raise ConfigError("model.api_base must not hold credentials: name a variable in model.api_key_env")
        if self.direct and self.base is None:
            raise ConfigError(
                f"model.transport=direct needs model.api_base, found none for provider {self.provider!r}: "
                "set it to an endpoint that speaks chat completions, or use model.transport=litellm"
            )


def key_in_environment(model: str, variable: str | None, optional: bool) -> str:
    """The key in an environment variable; empty if there is none and none is needed. Raises ConfigError."""
    if not variable:
        return ""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable, re.IGNORECASE) or redact(variable) != variable:
        raise ConfigError(
            "model.api_key_env must be the name of an environment variable such as OPENAI_API_KEY, "
            f"found {len(variable)} characters that are none (a key itself does not belong in a configuration)"
        )
    key = os.environ.get(variable, "").strip()
    if not key and not optional:
        raise ConfigError(
            f"the model {model!r} needs a key: the environment variable {variable} is not set; "
            "export it, name another in model.api_key_env, or set model.key_optional=true"
        )
    if not key.isascii() or not key.isprintable():
        raise ConfigError(f"the environment variable {variable} must hold a key, found characters that no key has")
    return key


@dataclass(frozen=True)
class Retired:
    """The end of a model's service: who served it, the nearest choice of ``model``, and the first day without it, as
    2026-10-23 (None: it is gone, and the day is not known). ``offered``: false for a model that was never public."""

    by: str
    instead: str
    since: str | None = None
    offered: bool = True

    def __post_init__(self) -> None:
        try:
            date.fromisoformat(self.since or "2000-01-01")
        except ValueError:
            raise ConfigError(f"retired: since must be a day such as 2026-10-23, found {self.since!r}") from None

    def refuse(self, name: str, today: date) -> None:
        """Raise ConfigError if the model cannot be had today."""
        if self.since is not None and today < date.fromisoformat(self.since):
            return
        end = f"{self.by} retired {name!r} on {self.since}" if self.since else f"{self.by} no longer serves {name!r}"
        elsewhere = "; if a server still has it: retired=null, with its address in api_base"
        if not self.offered:
            end, elsewhere = f"{self.by} never offered {name!r} to the public", ""
        raise ConfigError(f"retired: {end}; the nearest choice is model={self.instead}{elsewhere}")


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens. ``long`` replaces it for prompts of more than ``long_above`` tokens."""

    input: float
    output: float
    cached_input: float | None = None
    long_above: int | None = None
    long: "Price | None" = None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars of one call. ``cached_tokens`` are part of ``input_tokens``."""
        if self.long is not None and self.long_above is not None and input_tokens > self.long_above:
            return self.long.cost(input_tokens, output_tokens, cached_tokens)
        cached_rate = self.input if self.cached_input is None else self.cached_input
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * cached_rate + output_tokens * self.output) / 1e6


@dataclass(frozen=True)
class PriceRow:
    """A model's row of the table, its price or the ``reason`` why there is none, and whether it takes images."""

    row: str | None
    price: Price | None
    context_tokens: int | None
    source: str
    reason: str = ""
    vision: bool | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The row for a manifest; prices in US dollars per million tokens."""
        rates = {name: self.price and vars(self.price)[name] for name in ("input", "output", "cached_input")}
        known = {"context_tokens": self.context_tokens, "reason": self.reason}
        return {"row": self.row, "source": self.source, **rates, **known}


@lru_cache(maxsize=64)
def look_up(name: str, provider: str) -> PriceRow:
    """The row of a model; ``provider`` is litellm's prefix, or empty when ``name`` carries it."""
    spec = find_spec("litellm")
    assert spec is not None and spec.submodule_search_locations, "litellm is required"
    table: dict[str, Any] = orjson.loads(Path(spec.submodule_search_locations[0], _FILE).read_bytes())
    return row_in(table, name, provider, f"litellm {version('litellm')}")


def row_in(table: Mapping[str, Any], name: str, provider: str, source: str) -> PriceRow:
    """The row of a model in a table: under its full name, or under its bare name if the provider agrees."""
    prefix, _, bare = name.partition("/") if not provider and "/" in name else (provider, "", name)
    full = f"{prefix}/{bare}" if prefix else bare
    for key in (full, bare) if prefix else ():
        row: Any = None if key in _NOT_MODELS else table.get(key)
        served = str(row.get("litellm_provider")) if isinstance(row, Mapping) else ""
        if served and (key == full or served == prefix or served.startswith((f"{prefix}_", f"{prefix}-"))):
            break
    else:
        where = f"{full!r} has no row in the price table" if prefix else f"{name!r} names no provider"
        return PriceRow(
            None, None, None, source, f"price unknown: {where}; set model.price={{input: ..., output: ...}}"
        )
    context, vision = row.get("max_input_tokens"), bool(row.get("supports_vision"))
    context = context if isinstance(context, int) else None
    price = _price(row)
    if price is not None and (price.input or price.output):
        for match in filter(None, map(_LONG.fullmatch, row)):
            if (long := _price(row, f"_above_{match[1]}k_tokens")) is not None:
                price = replace(price, long_above=int(match[1]) * 1000, long=long)
                break
        return PriceRow(key, price, context, source, vision=vision)
    what = "no price per token" if price is None else "0, as for every model without a known price"
    return PriceRow(key, None, context, source, f"price unknown: the row {key!r} holds {what}; set model.price", vision)


def configured_price(price: Mapping[str, Any], row: PriceRow) -> PriceRow:
    """The row with a price from the configuration in place of the table's. Raises ConfigError."""
    allowed = ("input", "output", "cached_input")
    if not {"input", "output"} <= set(price) <= set(allowed):
        needed = "input and output (USD per million tokens; cached_input is optional)"
        raise ConfigError(f"model.price must hold {needed}, found {sorted(price)}")
    for key, value in price.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ConfigError(f"model.price.{key} must be a number of at least 0, found {value!r}")
    return replace(row, price=Price(**price), source="model.price", reason="")


def _price(row: Mapping[str, Any], suffix: str = "") -> Price | None:
    """The price of a row; with a suffix that of long prompts."""
    stems = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    dollars = (row.get(f"{stem}{suffix}") for stem in stems)
    input_, output, cached = (round(one * 1e6, 9) if isinstance(one, int | float) else None for one in dollars)
    return None if input_ is None or output is None else Price(input_, output, cached)
