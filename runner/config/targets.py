"""From a ``_target_`` to its class: only ours, or from a package that the user allows."""

import importlib
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from components.core.errors import ConfigError
from components.core.moved import NEW
from runner.config.errors import format_value, nearest

_HOME = "components"


def locate(target: object, allow: Sequence[str]) -> Callable[..., Any]:
    """The class (or function) of a ``_target_``. Raises ConfigError."""
    if not isinstance(target, str) or not re.fullmatch(r"\w+(\.\w+)+", target):
        raise ConfigError(f"expected package.module.Class, found {format_value(target)}")
    if target in NEW:
        raise ConfigError(f"{target} has moved: it is now {NEW[target]}")
    if not _within(target, (_HOME, *allow)):
        package = target.partition(".")[0]
        raise ConfigError(
            f"{target} is not part of Wardround; if you trust the package, allow it: run.allow_targets=[{package}]"
        )
    path, _, name = target.rpartition(".")
    found = getattr(module := _module(path), name, None)
    if not callable(found) or not _within(found.__module__, (_HOME, *allow)):
        own = [k for k, v in vars(module).items() if isinstance(v, type) and v.__module__ == path]
        raise ConfigError(f"no class {name} in {path}; {nearest(name, own)}")
    return found  # type: ignore[no-any-return]  # callable


# What code that is not ours may raise.
CODE_ERRORS = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError,
               RuntimeError, SyntaxError, TypeError, ValueError)  # fmt: skip


def _module(path: str) -> ModuleType:
    """Import a module. Raises ConfigError when it, or a library that it needs, is not there."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or _within(path, (error.name,)):
            raise ConfigError(f"there is no module {error.name}; {_siblings(error.name or path)}") from None
        if _within(error.name, (_HOME,)):
            moved = [f"{old} is now {new}" for old, new in NEW.items() if _within(old, (error.name,))]
            now = "; ".join(moved) or _siblings(error.name)
            raise ConfigError(f"{path} imports {error.name}, which does not exist; {now}") from None
        raise ConfigError(f"{path} needs the package {error.name}, which is not installed") from None
    except CODE_ERRORS as error:
        last: Any = error if isinstance(error, SyntaxError) else traceback.extract_tb(error.__traceback__)[-1]
        place = f"{last.filename}:{last.lineno}"
        raise ConfigError(f"{path} cannot be imported: {place}: {type(error).__name__}: {error}") from None


def failure_in(factory: Callable[..., Any], error: Exception) -> str:
    """What the constructor of a custom part raised, and where. Raises the error again where the part is ours."""
    if _within(factory.__module__, (_HOME, "runner")):
        raise error
    frames = traceback.extract_tb(error.__traceback__)
    last = ([one for one in frames if one.filename == sys.modules[factory.__module__].__file__] or frames)[-1]
    what = f"{factory.__module__}.{factory.__qualname__}: {type(error).__name__}: {error}".partition("\n")[0]
    return f"{what} ({Path(last.filename).name}:{last.lineno})"


def _siblings(path: str) -> str:
    parent, _, name = path.rpartition(".")
    if not parent:
        return "it must be importable from here (the current folder is searched last)"
    folders = getattr(importlib.import_module(parent), "__path__", ())  # none: a module, with nothing below it
    return nearest(name, [m.name for m in pkgutil.iter_modules(folders)])


def _within(name: str, packages: Iterable[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)
