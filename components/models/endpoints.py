"""The known facts of a model before any call: its address and transport, its key, and its end of service."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from components.core.errors import ConfigError
from components.core.redaction import redact

OPENAI = "https://api.openai.com/v1"
NOT_EXTRA = frozenset({"model", "messages", "tools", "stream", "n", "api_key"})
# Provider that speaks chat completions -> its usual address, and litellm's prefix for such servers.
SERVERS: Mapping[str, tuple[str, str]] = {
    "openai": (OPENAI, "openai"),
    "vllm": ("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "hosted_vllm": ("http://127.0.0.1:8000/v1", "hosted_vllm"),
    "ollama": ("http://127.0.0.1:11434/v1", "hosted_vllm"),
}
# Provider -> the command that starts its server, with the model's name in place of {}.
STARTED_BY: Mapping[str, str] = {"vllm": "vllm serve {}", "hosted_vllm": "vllm serve {}", "ollama": "ollama serve"}


@dataclass(frozen=True)
class Endpoint:
    """One model at one address; ``provider`` empty: chat completions, or litellm decides. Raises ConfigError."""

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
            if not is_address(parts):
                found, known = redact(self.api_base), SERVERS["vllm"][0]
                raise ConfigError(f"model.api_base must be an http(s) URL such as {known}, found {found!r}")
            if "@" in parts.netloc:
                raise ConfigError("model.api_base must not hold credentials: name a variable in model.api_key_env")
        if self.direct and self.base is None:
            raise ConfigError(
                f"model.transport=direct needs model.api_base, found none for provider {self.provider!r}: "
                "set it to an endpoint that speaks chat completions, or use model.transport=litellm"
            )


def is_address(url: SplitResult) -> bool:
    """Whether a URL names a server of http or https: its name can be encoded and its port is a number."""
    try:
        return url.scheme in ("http", "https") and url.port != 0 and bool((url.hostname or "").encode("idna"))
    except ValueError:  # of the port, and of a name
        return False


def key_in_environment(model: str, variable: str | None, optional: bool) -> str:
    """The key in an environment variable; empty if there is none and none is needed. Raises ConfigError."""
    if not variable:
        return ""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", variable, re.IGNORECASE) or redact(variable) != variable:
        raise ConfigError(
            "model.api_key_env must be the name of an environment variable such as OPENAI_API_KEY, "
            f"found {len(variable)} characters that are not a name (put no key into a configuration)"
        )
    key = os.environ.get(variable, "").strip()
    if not key and not optional:
        raise ConfigError(
            f"the model {model!r} needs a key: the environment variable {variable} is not set; "
            "export it, name another in model.api_key_env, or set model.key_optional=true"
        )
    if not key.isascii() or not key.isprintable():
        raise ConfigError(f"the environment variable {variable} must hold a key, found invalid characters")
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
