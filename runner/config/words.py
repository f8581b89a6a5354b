"""A config from words alone, for commands that are not runs."""

from collections.abc import Sequence
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from runner.config.catalogue import CONF, Catalogue
from runner.config.composed import resolve
from runner.config.errors import ConfigErrors
from runner.config.explain import explain


def config_of(words: Sequence[str]) -> dict[str, Any]:
    """The config that these words choose, resolved. Raises ConfigErrors."""
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            return resolve(compose("config", list(words)))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigErrors([explain(error, words, Catalogue())]) from None
