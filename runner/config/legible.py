"""Whether a config file can be read at all, before Hydra does: it would not name the file, or not come to an end."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from components.core.errors import ConfigError
from runner.config.origins import near

_MOST_VALUES = 20_000  # OmegaConf takes 70 microseconds for each


def refuse_illegible(path: Path) -> None:
    """Raises ConfigError for a file that is no UTF-8, or whose aliases stand for too much or for themselves."""
    raw = path.read_bytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{near(path)}:{line}: no UTF-8: found the byte {raw[error.start]:#04x}") from None
    if b"&" not in raw or b"*" not in raw:
        return
    try:
        node = yaml.compose(raw, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return  # Hydra says what and where
    if node is not None and _values(node, {}) > _MOST_VALUES:
        raise ConfigError(f"{near(path)}: its aliases stand for more than {_MOST_VALUES:,} values, or for themselves")


def too_deep(words: Sequence[str]) -> ConfigError:
    """What to say of a config that Python could not follow."""
    choices = " ".join(word for word in words if "=" in word)
    return ConfigError(f"a YAML is nested too deep, or names itself in its defaults; look at those of: {choices}")


def _values(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a node has when every alias is written out."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = float("inf")  # it holds itself, if it is asked for before it is known
        inner = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
        known[id(node)] = 1 + sum(_values(part, known) for part in inner)
    return known[id(node)]
