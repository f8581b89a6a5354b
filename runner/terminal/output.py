"""What commands that only read have in common: a refusal is one line, and a reader who leaves early is no error."""

import os
import sys
from collections.abc import Callable

from components.core.errors import ConfigError


def exit_code_of(tell: Callable[[], None]) -> int:
    """Let a command say what it has to. Returns the exit code: 2 for what it refuses, or cannot read or write."""
    try:
        tell()
        sys.stdout.flush()
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except BrokenPipeError:
        return left()
    except OSError as error:
        said = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        print(f"error: {said}", file=sys.stderr)  # noqa: T201
        return 2
    return 0


def left() -> int:
    """Whoever reads along has seen enough: print the rest to nobody. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def aside(text: str) -> None:
    """Say something that is no part of the result."""
    print(text, file=sys.stderr)  # noqa: T201
