"""Errors of a config: the key, the value that was found, and the nearest valid names."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from components.core.errors import ConfigError
from components.core.redaction import redact
from components.text.words import meant
from runner.terminal.command import print_note

_SHOWN = 12
_JUNK = re.compile(r"[\W_]")  # what a part of a name may leave out
_LONGEST = 200  # characters of a path


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and the dotted key it is wrong at; ``place`` is its address where it is known."""

    key: str
    text: str
    place: str = ""

    def __str__(self) -> str:
        text = self.text if not self.key or self.text.startswith(self.key) else f"{self.key}: {self.text}"
        return f"{self.place}: {text}" if self.place else text


class ConfigErrors(ConfigError):
    """Everything that was found wrong with a config."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(dict.fromkeys(findings))
        super().__init__("\n".join(map(str, self.findings)))


def nearest(name: str, known: Iterable[object]) -> str:
    """The end of a message: the name that was probably meant (misspelled, or a part of a longer one), and all valid
    names."""
    names = sorted({str(k) for k in known})
    if not names:
        return "there are none"
    have = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    letters = {one: _JUNK.sub("", one.casefold()) for one in names}
    part = _JUNK.sub("", name.casefold())
    longer = [one for one, whole in letters.items() if len(part) > 2 and part in whole][:3]
    hint = meant(name, names) or (f"did you mean {' or '.join(longer)}? " if longer else "")
    return f"{hint}valid: {have}"


def format_value(value: object) -> str:
    """A value found in a config, cut short and without secrets."""
    text = redact(repr(value))
    return text if len(text) <= 80 else text[:77] + "..."


def unreachable(error: OSError) -> ConfigError:
    """A file or folder that cannot be had, by its name, where nothing of a run is there yet."""
    name = str(error.filename or "a file")
    return ConfigError(f"{name[:_LONGEST]} cannot be read or written: {error.strerror or error}")


def complain(error: ConfigError, whose: str = "") -> None:
    """Print every finding in a line, on standard error."""
    findings = [str(finding) for finding in error.findings] if isinstance(error, ConfigErrors) else [str(error)]
    for text in findings[:_SHOWN]:
        print_note(f"config error: {whose}{redact(text)}")
    if len(findings) > _SHOWN:
        print_note(f"config error: and {len(findings) - _SHOWN} more")


@contextmanager
def note_errors(findings: list[Finding], key: str = "") -> Iterator[None]:
    """Collect the config errors of a block."""
    try:
        yield
    except ConfigErrors as error:
        findings += error.findings
    except ConfigError as error:
        findings.append(Finding(key, str(error)))


@contextmanager
def with_place(where: object) -> Iterator[None]:
    """Around reading and checks: each line of an error, of the config or of YAML, begins with its place."""
    import yaml

    try:
        yield
    except ConfigError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in str(error).splitlines())) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: {' '.join(str(error).split())}") from None


def near(path: Path) -> str:
    """A path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
