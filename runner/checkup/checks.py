"""What ``runner.doctor`` checks; each check is a function that returns lines. Keys are named, never shown."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from components.core.errors import ConfigError

if TYPE_CHECKING:
    from runner.config.catalogue import Catalogue, Choice

OK, MISSING, BAD = "ok", "-", "BAD"
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_TIMEOUT_SECONDS = 1.0
_DATA = "CLINICAL_DATA_DIR"
_INTERPOLATION = f"${{oc.env:{_DATA}}}"
_PATH = re.compile(rf"['\"]({re.escape(_INTERPOLATION)}[^'\"]*)")  # of a printed choice


@dataclass(frozen=True)
class Line:
    """The result for one thing; ``hint`` says what to do."""

    mark: str
    name: str
    found: str
    hint: str = ""


def size(n: float) -> str:
    """Bytes with a unit."""
    from rich.filesize import decimal

    return decimal(int(n))


def line(ok: object, name: str, found: str, hint: str = "", otherwise: str = MISSING) -> Line:
    """A line; its hint is only for the case that something is missing."""
    return Line(OK, name, found) if ok else Line(otherwise, name, found, hint)


def catalogue() -> Catalogue:
    """Imported here: a library that it needs may be missing."""
    from runner.config.catalogue import Catalogue

    return Catalogue()


def keys() -> list[Line]:
    """The variables that the choices of model read: whether they are set."""
    lines = []
    for model in _providers():
        named = dict.fromkeys([str(model.node.get("api_key_env") or ""), *_VARIABLE.findall(model.description)])
        for variable in (name for name in named if name.endswith(("_KEY", "_KEY_ID"))):
            optional, is_set = model.node.get("key_optional") is True, bool(os.environ.get(variable))
            hint = "" if optional else f"for model={model.name}: export {variable}=..."
            found = "set" if is_set else "not set, not needed" if optional else "not set"
            lines.append(line(is_set or optional, variable, found, hint))
    return lines


def endpoints(online: bool) -> list[Line]:
    """Whether the addresses in the choices of model answer; those of other machines only with ``online``."""
    lines = []
    for model in _providers():
        variables = [name for name in _VARIABLE.findall(model.description) if name.endswith("_BASE")]
        urls = [model.node.get("api_base"), *map(os.environ.get, variables)]
        lines += [_endpoint(f"model={model.name}", str(url), online) for url in urls if url]
    return lines


def _endpoint(name: str, url: str, online: bool) -> Line:
    """What is not an address is not shown: it may hold a password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        return Line(MISSING, name, "invalid address", "write https://HOST[:PORT]/...")
    if not online and host not in ("localhost", "127.0.0.1", "::1"):
        return Line(MISSING, name, f"{host}:{port} not tested", "--online tests it")
    try:
        socket.create_connection((host, port), timeout=_TIMEOUT_SECONDS).close()
        return line(True, name, f"{host}:{port} answers")
    except OSError:
        hint = f"start the server, or {name} model.api_base=http://HOST:PORT/v1"
        return Line(MISSING, name, f"{host}:{port} does not answer", hint)


def _providers() -> Iterator[Choice]:
    """The choices of model that dated models are based on, which have the same keys and addresses."""
    return (choice for name, choice in catalogue().choices("model").items() if "/" not in name)


def data() -> list[Line]:
    """The folder of the data, and which choices of dataset have their files, with their class."""
    root = os.environ.get(_DATA, "")
    found = "is a folder" if (exists := os.path.isdir(root)) else "is not a folder" if root else "not set"
    hint = f"export {_DATA}=/path/to/your/data, for data that are not shipped"
    folder = line(exists, _DATA, found, hint)
    return [folder, *(_dataset(choice, root if exists else "") for choice in catalogue().choices("dataset").values())]


def _dataset(choice: Choice, root: str) -> Line:
    node, privacy = choice.node, choice.node.get("privacy", "open")
    bases = [key for base in node.get("defaults", ()) if isinstance(base, Mapping) for key in base.items()]
    base = next((name for key, name in bases if str(key).startswith("/dataset@")), None)
    if base is not None:
        return line(True, choice.name, f"{privacy}; made from another, by default {base}")
    if node.get("path") in (None, "???"):
        shipped = node.get("shipped") or "shipped" in choice.description or "made by the project" in choice.description
        return line(shipped, choice.name, f"{privacy}; {'shipped' if shipped else 'no path'}", "dataset.path=...")
    paths = [path.replace(_INTERPOLATION, root) for path in _PATH.findall(str(node))]
    missing = [path.removeprefix(root) for path in paths if not root or not os.path.exists(path)]
    problem = f"no ${_DATA}{missing[0]}" if missing else _problem(_resolved(node, root))
    return line(not problem, choice.name, f"{privacy}; {problem or 'there'}", "or dataset.path=...")


def _resolved(node: Any, root: str) -> Any:
    """A choice with the folder of the data in it; what it takes from other groups is left out."""
    if isinstance(node, Mapping):
        resolved = {str(key): _resolved(value, root) for key, value in node.items() if key != "defaults"}
        return {key: value for key, value in resolved.items() if "${" not in str(value)}
    return node.replace(_INTERPOLATION, root) if isinstance(node, str) else node


def _problem(node: Mapping[str, Any]) -> str:
    """Why a dataset cannot be loaded; empty where its first sample can, or, if it computes a cache first, its split."""
    from components.core.protocols import Dataset
    from runner.config.build import part

    try:
        dataset = part(node, "dataset", (), Dataset)  # type: ignore[type-abstract]
        if dataset.splits and dataset.split not in dataset.splits:
            return f"no files of its split {dataset.split}"
        if "cache" not in node:
            next(iter(dataset.load(dataset.split)), None)
    except ConfigError as error:
        return str(error).partition("\n")[0]
    return ""
