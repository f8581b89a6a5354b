"""Parts from plain dicts: ``_target_`` names the class, what else is there are arguments, checked by their types."""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.config.errors import ConfigErrors, Finding, format_value, nearest
from runner.config.targets import CODE_ERRORS, failure_in, locate

T = TypeVar("T")
_BROKEN = object()
_SIMPLE = (bool, int, float, str, type(None))  # nothing to convert where one of these is asked for, or is a default
_PLAIN = {
    "Input should": "should",
    "String should match pattern": "should match",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid string": "text (quote it)",
    "a valid boolean": "true or false",
    "a valid array": "a list",
    "a valid dictionary": "a mapping",
    "an object": "a mapping",
}


def construct(node: object, where: str, allow: Sequence[str] = ()) -> object:
    """Build a component. Its class comes from ``components`` or a package in ``allow``. Raises ConfigErrors."""
    builder = _Builder(tuple(allow))
    return builder.checked(builder.construct(node, where))


def part(node: object, where: str, allow: Sequence[str], protocol: type[T]) -> T:
    """Build a component that has a protocol's methods. Raises ConfigErrors."""
    built = construct(node, where, allow)
    members = [name for name in vars(protocol) if name == "__call__" or not name.startswith("_")]
    if lacking := [name for name in members if inspect.getattr_static(built, name, _BROKEN) is _BROKEN]:
        what = f"{'an' if protocol.__name__[0] in 'AEIOU' else 'a'} {protocol.__name__}"
        text = f"is not {what}: it lacks {', '.join(lacking)} (see components/core/protocols.py)"
        raise ConfigErrors([Finding(where, f"{type(built).__qualname__} {text}")])
    return built  # type: ignore[return-value]  # it has the protocol's members


def check(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """Fill a dataclass from a mapping; ``_target_`` nodes in it stay as they are. Raises ConfigErrors."""
    builder = _Builder(None)
    return builder.checked(builder.call(kind, values, where))  # type: ignore[no-any-return]  # it is not generic


@dataclass
class _Builder:
    """Collects findings while it builds; what could not be built is ``_BROKEN``. ``allow`` None: builds no nodes."""

    allow: tuple[str, ...] | None
    findings: list[Finding] = field(default_factory=list)
    built: int = 0

    def checked(self, built: Any) -> Any:
        """What was built. Raises ConfigErrors."""
        if self.findings:
            raise ConfigErrors(self.findings)
        return built

    def bad(self, key: str, text: str) -> object:
        """Note a finding."""
        self.findings.append(Finding(key, text))
        return _BROKEN

    def construct(self, node: object, where: str) -> object:
        """The object that a node describes."""
        if not isinstance(node, Mapping) or "_target_" not in node:
            return self.bad(where, f"expected a mapping with a _target_, found {format_value(node)}")
        try:
            factory = locate(node["_target_"], self.allow or ())
        except ConfigError as error:
            return self.bad(f"{where}._target_", str(error))
        self.built += 1
        return self.call(factory, {k: v for k, v in node.items() if k != "_target_"}, where)

    def call(self, factory: Callable[..., Any], given: Mapping[Any, Any], where: str) -> Any:
        """Check the arguments and call."""
        before = len(self.findings)
        parameters, hints = _signature(factory)
        named = [name for name, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        arguments = {}
        for key, value in given.items():
            if key in named or takes_all:
                hint, default = (hints.get(key, Any), parameters[key].default) if key in named else (Any, None)
                is_default = type(value) in _SIMPLE and type(value) is type(default) and value == default
                arguments[key] = value if is_default else self.value(hint, value, _join(where, key))
            else:
                self.bad(_join(where, key), f"no such key; {nearest(str(key), named)}")
        for name in named:
            if parameters[name].default is inspect.Parameter.empty and name not in given:
                self.bad(_join(where, name), "is missing and has no default")
        if len(self.findings) > before:
            return _BROKEN
        try:
            return factory(**arguments)
        except ConfigErrors as error:
            self.findings += error.findings
        except ConfigError as error:
            name, colon, text = str(error).partition(": ")  # of one of its arguments, where it begins with its name
            own = bool(colon) and name in given
            self.findings.append(Finding(_join(where, name), text) if own else Finding(where, str(error)))
        except ValueError as error:
            self.bad(where, redact(str(error)))
        except CODE_ERRORS as error:
            self.bad(_join(where, "_target_"), redact(failure_in(factory, error)))
        return _BROKEN

    def value(self, hint: Any, value: object, where: str) -> Any:
        """A value checked against a type; parts and dataclasses in it are built first."""
        if isinstance(value, str) and getattr(hint, "_is_protocol", False):
            how = f"{where.partition('.')[0]}@{where}={value}"
            return self.bad(where, f"found {format_value(value)}; expected a choice, as in {how}")
        built, findings = self.built, len(self.findings)
        value = self.nested(hint, value, where)
        if len(self.findings) > findings:
            return _BROKEN
        members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if type(value) in members and type(value) is not float and (type(value) in _SIMPLE or is_dataclass(value)):
            return value
        from pydantic import ValidationError

        try:
            adapter = _adapter(hint)
            return adapter.validate_python(value) if self.built > built else _from_json(adapter, value)
        except ValidationError as error:
            self.findings += _explained(error, value, where)
            return _BROKEN

    def nested(self, hint: Any, value: object, where: str) -> object:
        """The value with every node in it built and every mapping of a dataclass's fields filled."""
        while get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        kinds: tuple[Any, ...] = (hint,)
        if get_origin(hint) in (Union, UnionType):
            kinds = tuple(kind for kind in get_args(hint) if kind is not type(None))
            hint = kinds[0] if len(kinds) == 1 else hint
        inner = get_args(hint)
        if isinstance(value, Mapping):
            if "_target_" in value and self.allow is not None:
                return self.construct(value, where)
            for kind in kinds:
                if isinstance(kind, type) and is_dataclass(kind):
                    self.built += 1
                    return self.call(kind, value, where)
            return {k: self.nested(inner[-1] if inner else Any, v, _join(where, k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.nested(inner[0] if inner else Any, v, f"{where}[{i}]") for i, v in enumerate(value)]
        return value


def _join(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)


@lru_cache(maxsize=512)
def _signature(factory: Callable[..., Any]) -> tuple[Mapping[str, inspect.Parameter], Mapping[str, Any]]:
    """Parameters and their types; a type that cannot be read (imports for type checkers only) goes unchecked."""
    plain = isinstance(factory, type) and not is_dataclass(factory)  # bases of a dataclass know names of their modules
    call = getattr(factory, "__init__") if plain else factory  # noqa: B009
    try:
        hints = get_type_hints(call, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    return inspect.signature(factory).parameters, hints


@lru_cache(maxsize=512)
def _adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, InstanceOf, PydanticUserError, TypeAdapter

    if isinstance(hint, type) and is_dataclass(hint):
        return TypeAdapter(InstanceOf[hint])
    try:
        return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False))
    except PydanticUserError:  # no schema for a type in it: then its own constructor must check
        return TypeAdapter(Any)


def _from_json(adapter: Any, value: object) -> Any:
    """Strict as YAML's types are, but a list may be a tuple and a text a path."""
    from pydantic import ValidationError

    try:
        return adapter.validate_json(json.dumps(value, default=str), strict=True)
    except ValidationError as error:
        if not any(one["type"] == "needs_python_object" for one in error.errors()):
            raise
        return adapter.validate_python(value)  # a part is wanted here: say so


def _explained(error: Any, value: object, where: str) -> list[Finding]:
    """Pydantic's errors as findings, those of a union's members in one."""
    texts: dict[str, list[str]] = {}
    found: dict[str, object] = {}
    for one in error.errors(include_url=False):
        here, key = value, where
        for step in one["loc"]:
            if isinstance(here, Mapping) and step in here:
                here, key = here[step], _join(key, step)
            elif isinstance(here, list) and isinstance(step, int) and step < len(here):
                here, key = here[step], f"{key}[{step}]"
        expected = re.findall(r"'([^']*)'", one["ctx"]["expected"]) if one["type"] == "literal_error" else ()
        text = nearest(str(here), expected) if expected else one["msg"]
        for technical, plain in _PLAIN.items() if not expected else ():
            text = text.replace(technical, plain)
        texts.setdefault(key, []).append(text)
        found[key] = here
    return [
        Finding(key, f"found {format_value(found[key])}, {' or '.join(dict.fromkeys(t))}") for key, t in texts.items()
    ]
