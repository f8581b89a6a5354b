"""The keys of a choice, with type, default and meaning: the class that a ``_target_`` names gives the types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from generator.choices import Choice

UNITS = {
    "seconds": "seconds", "usd": "US dollars", "tokens": "tokens", "bytes": "bytes", "per_minute": "per minute",
    "minutes": "minutes", "min": "minutes",
}  # fmt: skip
WORDS = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    NoneType: "null",
    Any: "any",
    Path: "path",
}
COMMON = {  # keys that mean the same wherever no comment and no docstring describes them
    "api_base": "address of the endpoint; null = the provider's own",
    "building": "how missing tools are built, for build_tools=code",
    "calls": "at most so many model calls; null = no limit",
    "databases": "the databases that questions are taken from",
    "grammar": "how actions are written and read: a key of `grammars`",
    "key_optional": "whether requests are sent without a key",
    "key_variable": "the environment variable that holds the key",
    "max_connections": "requests at once",
    "max_reply_mb": "the longest reply that is read, in MB of 2**20 bytes",
    "max_tokens": "the longest reply; null = the provider's default",
    "path": "file or folder of the data",
    "privacy": "data class of the texts",
    "prompts": "prompt set: a name in `components/prompts`, or the path of a folder",
    "requests_per_minute": "limit of the provider; null = none",
    "retries": "how often a request is repeated after an error that can pass",
    "sandbox": "where code runs that a model wrote",
    "seconds": "at most so long; null = no limit",
    "seed": "of the random choices",
    "split": "the split that is evaluated",
    "stage": "how the memory is learnt",
    "steps": "at most so many actions; null = no limit",
    "subjects": "the subjects that questions are taken from",
    "switches": "the definitions of the profile",
    "temperature": "of sampling; null = the provider's default",
    "timeout_seconds": "of one request",
    "tokens": "at most so many, in and out; null = no limit",
    "tokens_per_minute": "limit of the provider; null = none",
    "top_p": "of sampling; null = the provider's default",
    "usd": "at most so much; null = no limit",
}


@dataclass(frozen=True)
class Row:
    """One key with its type, default and meaning."""

    key: str
    type: str
    default: str
    meaning: str = ""


def located(target: str | None) -> Callable[..., Any] | None:
    """The class or function that a ``_target_`` names; None for those of extras and of plugins."""
    if target is None:
        return None
    module, _, name = target.rpartition(".")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return None


def hints_of(factory: Callable[..., Any] | None) -> dict[str, Any]:
    """The types of the arguments."""
    if factory is None:
        return {}
    call = factory.__init__ if inspect.isclass(factory) and not is_dataclass(factory) else factory  # type: ignore[misc]
    try:
        return get_type_hints(call, include_extras=True)
    except (NameError, TypeError):  # a name that only a type checker imports
        return {}


def type_of(hint: Any) -> str:
    """A type in the words of YAML."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return " ".join([type_of(inner[0]), *filter(None, map(bound_of, inner[1:]))])
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(type_of, sorted(inner, key=lambda one: one is NoneType))))
    if hint in WORDS:
        return WORDS[hint]
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"mapping of {type_of(inner[1])}"
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return f"list of {type_of(inner[0])}"
    if getattr(hint, "_is_protocol", False):
        return f"part ({hint.__name__})"
    return "mapping" if inspect.isclass(hint) and (is_dataclass(hint) or issubclass(hint, Mapping)) else "any"


def bound_of(limit: Any) -> str:
    """A limit of a number or text, such as ``>= 1``."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "at least", "max_length": "at most"}
    values = {name: getattr(limit, name, None) for name in signs}
    return ", ".join(f"{signs[name]} {value}" for name, value in values.items() if value is not None)


def unit_of(key: str) -> str:
    """The unit that a key's name states."""
    name = key.rpartition(".")[2]
    return next((f", {unit}" for word, unit in UNITS.items() if name == word or name.endswith(f"_{word}")), "")


def meaning_of(key: str, factory: Callable[..., Any] | None, part: Callable[..., Any] | None = None) -> str:
    """The description of a key that has no comment: the class's, that of the part in it, or a common one."""
    summary = re.split(r"[.:;](?:\s|$)", inspect.getdoc(part) or "")[0] if part else ""
    return sentence_on(key, factory) or " ".join(summary.split()).replace("``", "`") or COMMON.get(key, "")


def sentence_on(key: str, factory: Callable[..., Any] | None) -> str:
    """The sentence on an argument in the docstrings of a class and its bases."""
    owners = factory.__mro__ if inspect.isclass(factory) else (factory,)
    for owner in owners:
        text = inspect.getdoc(owner) or ""
        if described := re.search(rf"^    {key}: (.+(?:\n      .+)*)", text, re.M):  # in Args:
            return " ".join(described[1].split()).replace("``", "`").rstrip(".;")
        text = " ".join(text.partition("Args:")[0].partition("Raises:")[0].split())
        for sentence in re.split(r"(?<=[.;])\s+(?=``|[A-Z])", text):
            if f"``{key}``" in sentence and not sentence.startswith(f"{getattr(owner, '__name__', '')}("):
                return sentence.removeprefix(f"``{key}``: ").replace("``", "`").rstrip(".;")
    return ""


def rows(choice: Choice) -> Iterator[Row]:
    """The keys of a file; of a class that the file names itself, also those that it leaves at their defaults."""
    factory = located(choice.target)
    yield from walk(choice.content, factory, choice.comments, "")
    if factory is not None and "_target_" in choice.content:
        for name, parameter in inspect.signature(factory).parameters.items():
            if name not in choice.keys and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                yield argument(name, parameter, factory)


def argument(name: str, parameter: inspect.Parameter, factory: Callable[..., Any]) -> Row:
    """An argument that no YAML states."""
    default = parameter.default
    if default is parameter.empty:
        shown = "required"
    elif isinstance(default, bool | int | float | str | NoneType | tuple | list):
        shown = f"`{written(list(default) if isinstance(default, tuple) else default)}`"
    else:
        shown = "of the class"
    hint = type_of(hints_of(factory).get(name, Any)) + unit_of(name)
    return Row(name, hint, shown, meaning_of(name, factory))


def walk(
    node: Mapping[str, Any], factory: Callable[..., Any] | None, comments: Mapping[str, str], at: str
) -> Iterator[Row]:
    """The keys of a mapping and of the mappings in it."""
    hints = hints_of(factory)
    for name, value in node.items():
        key = f"{at}.{name}" if at else str(name)
        if name == "_target_":
            continue
        hint = hints.get(str(name), Any)
        target = value.get("_target_") if isinstance(value, dict) else None
        part = located(target)
        meaning = comments.get(key, "") or meaning_of(str(name), factory, part)
        inner = part or next(filter(is_dataclass, (hint, *get_args(hint))), None)
        if isinstance(value, dict) and value and (inner or has_keys_to_describe(value, comments, key)):
            yield Row(key, "part" if target else "mapping", f"`{target.rpartition('.')[2]}`" if target else "", meaning)
            yield from walk(value, inner, comments, key)
        else:
            kind = kind_of(value) if hint is Any else type_of(hint)
            yield Row(key, kind + unit_of(key), f"`{written(value)}`", meaning)


def has_keys_to_describe(value: Mapping[str, Any], comments: Mapping[str, str], key: str) -> bool:
    """Whether there are comments on what is in a mapping, or parts in it."""
    parts = any(isinstance(one, dict) and "_target_" in one for one in value.values())
    return parts or any(one.startswith(f"{key}.") for one in comments)


def kind_of(value: object) -> str:
    """The type of a value where no class states it."""
    if isinstance(value, str):
        return "text" if not value.startswith("${") else "any"
    return {list: "list", dict: "mapping"}.get(type(value), WORDS.get(type(value), "any"))


def written(value: object) -> str:
    """A value as YAML has it, on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...").replace("|", "\\|")
