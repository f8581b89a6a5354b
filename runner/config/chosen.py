"""A choice of a group by itself, where no whole config is composed."""

from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from components.core.errors import ConfigError
from runner.config.errors import nearest
from runner.config.origins import choices_of
from runner.config.roots import CONF


def chosen(group: str, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """What one of our choices says, with ``changes`` (key below the group -> value). Raises ConfigError."""
    known = choices_of([CONF], group)
    if name not in known:
        raise ConfigError(f"{group}={name}: {nearest(name, known)}")
    try:
        plain = OmegaConf.to_container(OmegaConf.load(CONF / group / f"{name}.yaml"), resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{group}={name}: {str(error).partition(chr(10))[0]}") from None
    assert isinstance(plain, dict), "a choice is a mapping"
    if strange := next((key for key in changes if key not in plain), None):
        raise ConfigError(f"{group}.{strange}: no such key; {nearest(strange, plain)}")
    return {**{str(key): value for key, value in plain.items()}, **changes}
