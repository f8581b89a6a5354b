"""Prices and context sizes of models, from litellm's own table, read as a file without importing litellm.

A model without a row has no price: unknown, never 0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.core.installed import version_of

_FILE = "model_prices_and_context_window_backup.json"
_NOT_MODELS = frozenset({"sample_spec", "fallback_generalizations"})
_LONG = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")


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
    """A model's row of the table, its price or the ``reason`` for having none, and whether it takes images."""

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
    text = Path(spec.submodule_search_locations[0], _FILE).read_bytes()
    is_named = f'{name.partition("/")[2] or name}"'.encode() in text  # most servers' own models are not; 15 ms to parse
    table: dict[str, Any] = orjson.loads(text) if is_named else {}
    return row_in(table, name, provider, f"litellm {version_of('litellm')}")


def row_in(table: Mapping[str, Any], name: str, provider: str, source: str) -> PriceRow:
    """The row of a model in a table: under its full name, or under its bare name if the provider agrees."""
    prefix, _, bare = name.partition("/") if not provider and "/" in name else (provider, "", name)
    full = f"{prefix}/{bare}" if prefix else bare
    for key in (full, bare) if prefix else ():
        row = None if key in _NOT_MODELS else table.get(key)
        if isinstance(row, Mapping) and (key == full or _is_served_by(row, prefix)):
            return _read_row(key, row, source)
    where = f"{full!r} has no row in the price table" if prefix else f"{name!r} names no provider"
    return PriceRow(None, None, None, source, f"price unknown: {where}; set model.price={{input: ..., output: ...}}")


def _is_served_by(row: Mapping[str, Any], prefix: str) -> bool:
    provider = str(row.get("litellm_provider"))
    return provider == prefix or provider.startswith((f"{prefix}_", f"{prefix}-"))


def _read_row(key: str, row: Mapping[str, Any], source: str) -> PriceRow:
    context, vision = row.get("max_input_tokens"), bool(row.get("supports_vision"))
    context = context if isinstance(context, int) else None
    price = _price(row)
    if price is None or not (price.input or price.output):
        what = "no price per token" if price is None else "0, as for every model without a known price"
        reason = f"price unknown: the row {key!r} holds {what}; set model.price"
        return PriceRow(key, None, context, source, reason, vision)
    for match in filter(None, map(_LONG.fullmatch, row)):
        if (long := _price(row, f"_above_{match[1]}k_tokens")) is not None:
            price = replace(price, long_above=int(match[1]) * 1000, long=long)
            break
    return PriceRow(key, price, context, source, vision=vision)


def _price(row: Mapping[str, Any], suffix: str = "") -> Price | None:
    """The price of a row; with a suffix that of long prompts."""
    stems = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    dollars = (row.get(f"{stem}{suffix}") for stem in stems)
    input_, output, cached = (round(one * 1e6, 9) if isinstance(one, int | float) else None for one in dollars)
    return None if input_ is None or output is None else Price(input_, output, cached)


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
