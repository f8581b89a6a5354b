"""Where a model is served and by which transport it is reached; checks a gateway's settings before any call."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from components.core.errors import ConfigError
from components.core.redaction import redact

if TYPE_CHECKING:
    from components.models.litellm_chat import LitellmChat
    from components.models.openai_chat import OpenAIChat
    from components.models.prices import Price

OPENAI = "https://api.openai.com/v1"
NOT_EXTRA = frozenset({"model", "messages", "tools", "stream", "n", "api_key"})


@dataclass(frozen=True)
class Server:
    """A provider that speaks chat completions: its usual address, and litellm's prefix for such servers."""

    api_base: str
    prefix: str


_SERVERS: Mapping[str, Server] = {
    "openai": Server(OPENAI, "openai"),
    "vllm": Server("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "hosted_vllm": Server("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "ollama": Server("http://127.0.0.1:11434/v1", "hosted_vllm"),
}


@dataclass(frozen=True)
class Endpoint:
    """One model at one place. ``provider`` empty: an address that speaks chat completions, or litellm decides."""

    name: str
    provider: str
    transport: Literal["auto", "direct", "litellm"]
    api_base: str | None

    @property
    def direct(self) -> bool:
        """Whether requests go there without litellm."""
        if self.transport == "auto":
            return self.provider in _SERVERS or (not self.provider and self.api_base is not None)
        return self.transport == "direct"

    @property
    def base(self) -> str | None:
        """The address up to ``/chat/completions``; None where litellm knows it."""
        if self.api_base is not None:
            return self.api_base.rstrip("/").removesuffix("/chat/completions")
        server = _SERVERS.get(self.provider)
        return server.api_base if server else None

    @property
    def litellm_model(self) -> str:
        """The model string for litellm."""
        server = _SERVERS.get(self.provider)
        prefix = server.prefix if server else self.provider
        return self.name if not prefix or self.name.startswith(f"{prefix}/") else f"{prefix}/{self.name}"

    @property
    def price_provider(self) -> str:
        """The provider whose prices hold here; a custom address has none."""
        return self.provider or ("own_endpoint" if self.direct else "")

    @property
    def shown(self) -> str:
        """The address without path and credentials, for messages."""
        if not self.base:
            return f"litellm ({self.provider or self.name.partition('/')[0]})"
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    def check(self) -> None:
        """Raises ConfigError where no request could be sent."""
        if self.api_base is not None:
            parts = urlsplit(self.api_base)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ConfigError(
                    "model.api_base must be an http(s) URL such as http://127.0.0.1:8000/v1, "
                    f"found {redact(self.api_base)!r}"
                )
            if "@" in parts.netloc:
                raise ConfigError("model.api_base must not hold credentials: name a variable in model.api_key_env")
        if self.direct and self.base is None:
            raise ConfigError(
                f"model.transport=direct needs model.api_base, found none for provider {self.provider!r}: "
                "set it to an endpoint that speaks chat completions, or use model.transport=litellm"
            )


@dataclass
class Transports:
    """Opens the transport of an endpoint when the first call needs it. ``price`` is looked up then, too."""

    endpoint: Endpoint
    key: str = field(repr=False)
    key_optional: bool
    send_seed: bool
    timeout_seconds: float
    price: Callable[[], Price | None]
    _opened: OpenAIChat | LitellmChat | None = None

    @property
    def chosen(self) -> OpenAIChat | LitellmChat:
        """The transport that this endpoint is reached by."""
        if self._opened is None:
            self._opened = self._direct() if self.endpoint.direct else self._litellm()
        return self._opened

    @property
    def connections(self) -> int | None:
        """Sockets opened so far; None where they are hidden."""
        return self._opened.connections if self._opened else 0

    async def close(self) -> None:
        """Close what was opened."""
        if self._opened is not None:
            await self._opened.close()

    def _direct(self) -> OpenAIChat:
        from components.models.openai_chat import OpenAIChat  # aiohttp takes 0.16 s to import

        base = self.endpoint.base or ""
        return OpenAIChat(base, self.endpoint.name, self.key, self.price(), self.send_seed, base == OPENAI)

    def _litellm(self) -> LitellmChat:
        from components.models.litellm_chat import LitellmChat

        unlocked = self.key_optional and self.endpoint.provider in _SERVERS
        key = self.key or ("not-needed" if unlocked else "")  # or litellm refuses to ask a server without a lock
        return LitellmChat(
            self.endpoint.litellm_model, self.endpoint.base, key, self.price(), self.timeout_seconds, self.send_seed
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
