"""Apply the overrides of a command line to a run's resolved config: choices and values, as Hydra would set them."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from components.core.errors import ConfigError
from runner.config.catalogue import CONF, Catalogue
from runner.config.composed import resolve
from runner.config.errors import ConfigErrors, nearest
from runner.config.explain import explain

DATA = ("dataset", "scorer", "limit", "epochs", "seed", "name", "stage", "experiment")  # what a run is about: it stays
_KEPT = (*DATA, "toolset", "condition")  # of what the file of another choice sets


def apply_overrides(
    cfg: Mapping[str, Any], choices: Mapping[str, str], words: Sequence[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The config and the choices with these overrides. A choice replaces its whole group, and the settings of other
    groups in its file, except the data; any other override sets one existing value. Raises ConfigError."""
    groups = Catalogue().groups
    try:
        overrides = OverridesParser.create().parse_overrides(list(words))
        if odd := [one for one in overrides if one.package is not None or one.is_sweep_override() or one.is_delete()]:
            raise ConfigError(f"{odd[0].input_line}: expected one choice for a group, or one value for a key")
        named = [one for one in overrides if one.key_or_group in groups]
        made, fresh = deepcopy(dict(cfg)), dict(choices)
        if named:
            own = {one.key_or_group for one in named}
            theirs = [one for one in overrides if one not in named and one.key_or_group.partition(".")[0] in own]
            for key, node in _composed(choices, named, theirs).items():
                made[key] = node
            fresh |= {one.key_or_group: str(one.value()) for one in named}
            overrides = [one for one in overrides if one not in named and one not in theirs]
        for one in overrides:
            set_value(made, str(one.key_or_group), one.value(), one.is_add())
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigErrors([explain(error, list(words), Catalogue())]) from None
    return made, fresh


def _composed(choices: Mapping[str, str], named: Sequence[Override], more: Sequence[Override]) -> dict[str, Any]:
    """The nodes of the chosen groups, and of what else their files set."""
    base = [f"profile={choices['profile']}"] if "profile" in choices else []
    words = [str(one.input_line) for one in (*named, *more)]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        before, after = (resolve(compose("config", list(of))) for of in (base, [*base, *words]))
    own = {one.key_or_group for one in named}
    return {key: node for key, node in after.items()
            if key in own or (key not in _KEPT and node != before.get(key))}  # fmt: skip


def set_value(cfg: dict[str, Any], key: str, value: Any, is_new: bool = False) -> None:
    """Set one value at a dotted key. Raises ConfigError for a missing key, unless it may be new."""
    *above, last = key.split(".")
    node: Any = cfg
    for step in above:
        node = node.get(step) if isinstance(node, dict) else None
    if not isinstance(node, dict) or (last not in node and not is_new):
        near = nearest(last, node) if isinstance(node, dict) else "look at config.yaml of the run"
        raise ConfigError(f"{key}: the config of the run has no such key; {near}")
    node[last] = value
