"""The choices of model: whether their keys are set and their addresses answer. Keys are told by name only."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runner.checkup.line import LACKS, Line, that

if TYPE_CHECKING:
    from runner.config.catalogue import Choice

_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_PATIENCE = 1.0


def keys() -> list[Line]:
    """The variables that the choices of model read: whether they are set, never what they hold."""
    lines = []
    for one in _providers():
        name, node, text = one.name, one.node, one.description
        named = dict.fromkeys([*([node["api_key_env"]] if node.get("api_key_env") else []), *_VARIABLE.findall(text)])
        for variable in (one for one in named if one.endswith(("_KEY", "_KEY_ID"))):
            free = node.get("key_optional") is True
            hint = "" if free else f"for model={name}: export {variable}=..."
            found = "set" if os.environ.get(variable) else "not set, not needed" if free else "not set"
            lines.append(that(bool(os.environ.get(variable)) or free, variable, found, hint))
    return lines


def endpoints(online: bool) -> list[Line]:
    """Whether the addresses in the choices of model answer; those elsewhere only ``online``."""
    lines = []
    for one in _providers():
        name, node, text = one.name, one.node, one.description
        bases = [
            node.get("api_base"),
            *(os.environ.get(one) for one in _VARIABLE.findall(text) if one.endswith("_BASE")),
        ]
        for base in (str(one) for one in bases if one):
            if (place := _place(base)) is None:
                lines.append(Line(LACKS, f"model={name}", "its address is none", "https://HOST[:PORT]/... is one"))
                continue
            host, port = place
            where = f"{host}:{port}"
            if not online and host not in ("localhost", "127.0.0.1", "::1"):
                lines.append(Line(LACKS, f"model={name}", f"{where} not tried", "--online tries it"))
                continue
            reached = _answers(host, port)
            hint = f"start the server, or model={name} model.api_base=http://HOST:PORT/v1"
            lines.append(that(reached, f"model={name}", f"{where} {'answers' if reached else 'does not answer'}", hint))
    return lines


def _providers() -> Iterator[Choice]:
    """The choices of model that dated models are based on, which have the same keys and addresses."""
    from runner.config.catalogue import Catalogue

    return (choice for name, choice in Catalogue().choices("model").items() if "/" not in name)


def _place(base: str) -> tuple[str, int] | None:
    """Host and port of an address; None for what is none, which is not shown: it may hold a password."""
    try:
        parts = urlsplit(base)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and parts.scheme in ("http", "https") else None


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE):
            return True
    except OSError:
        return False
