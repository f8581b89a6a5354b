"""Hydra for tests that compose many configs."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import omegaconf._utils
import omegaconf.base
import pytest
from hydra import initialize_config_dir
from hydra._internal import config_loader_impl
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource

from runner.config.haste import Kept
from runner.config.roots import CONF
from runner.sweep.launcher import register


@contextmanager
def composing() -> Iterator[None]:
    """Our ``conf``, in which every file is read once, as the command does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config_loader_impl, "ConfigRepository", Kept)
        register()
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield
    HydraConfig.instance().cfg = None


def parse_once() -> None:
    """Keep what was read of every file in our ``conf``, and of every interpolation: a third of a composition's time."""
    omegaconf.base.parse = omegaconf._utils.parse = cache(omegaconf.base.parse)
    Plugins.instance()  # it registers the sources
    source = SourcesRegistry.instance().resolve("file")
    source.load_config = _kept(source.load_config)


def _kept(load: Callable[[ConfigSource, str], ConfigResult]) -> Callable[[ConfigSource, str], ConfigResult]:
    ours: dict[str, bytes] = {}

    def load_config(self: ConfigSource, config_path: str) -> ConfigResult:
        if Path(self.path) != CONF:
            return load(self, config_path)
        if config_path not in ours:
            ours[config_path] = pickle.dumps(load(self, config_path))
        return pickle.loads(ours[config_path])

    return load_config
