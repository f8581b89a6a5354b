"""Hydra for tests, which compose a thousand configs of the same files."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

import omegaconf._utils
import omegaconf.base
import pytest
from hydra import initialize_config_dir
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import IConfigRepository
from hydra._internal.defaults_list import Overrides
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.default_element import ResultDefault
from hydra.core.hydra_config import HydraConfig
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import DictConfig

from runner.config.catalogue import CONF
from runner.config.hydra_patches import Kept, apply_patches
from runner.experiment.experiment import study
from runner.job.prepare import check
from runner.sweep.plugins import register

KEPT: dict[Any, bytes] = {}


@contextmanager
def composing() -> Iterator[None]:
    """Our ``conf``, in which every file is read once, as the command does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config_loader_impl, "ConfigRepository", Kept)
        register()
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield
    HydraConfig.instance().cfg = None


def compose_once() -> None:
    """Cache Hydra's result for the same files and choices; overrides of values are applied to a copy.

    It is for this process alone, and takes most of a composition's 60 ms.
    """
    omegaconf.base.parse = omegaconf._utils.parse = cache(omegaconf.base.parse)
    apply_patches()
    Plugins.instance()  # it registers the sources
    source = SourcesRegistry.instance().resolve("file")
    source.load_config = _file_once(source.load_config)
    defaults_list._create_defaults_list = _defaults_once(defaults_list._create_defaults_list)
    ConfigLoaderImpl._compose_config_from_defaults_list = _merged_once(
        ConfigLoaderImpl._compose_config_from_defaults_list
    )


def _once(key: Any, make: Callable[[], Any]) -> Any:
    """A copy of what was made for this key."""
    if key not in KEPT:
        KEPT[key] = pickle.dumps(make())
    return pickle.loads(KEPT[key])


def _file_once(load: Callable[..., ConfigResult]) -> Callable[..., ConfigResult]:
    def load_config(self: ConfigSource, config_path: str) -> ConfigResult:
        if Path(self.path) != CONF:
            return load(self, config_path)
        return _once(("file", config_path), lambda: load(self, config_path))

    return load_config


def _defaults_once(create: Callable[..., Any]) -> Callable[..., Any]:
    def create_defaults_list(repo: IConfigRepository, config_name: str, overrides: Overrides, **switches: bool) -> Any:
        def make() -> Any:
            found = create(repo, config_name, overrides, **switches)
            return found, {name: value for name, value in vars(overrides).items() if name != "config_overrides"}

        chosen = {name: repr(value) for name, value in vars(overrides).items() if name != "config_overrides"}
        key = ("defaults", config_name, *switches.items(), *chosen.items(), *_files(repo))
        found, state = _once(key, make)
        vars(overrides).update(state)
        return found

    return create_defaults_list


def _merged_once(merge: Callable[..., DictConfig]) -> Callable[..., DictConfig]:
    def compose(self: ConfigLoaderImpl, defaults: Sequence[ResultDefault], repo: IConfigRepository) -> DictConfig:
        key = ("merged", *map(astuple, defaults), *_files(repo))
        return _once(key, lambda: merge(self, defaults, repo))

    return compose


def _files(repo: IConfigRepository) -> Iterator[tuple[str, bytes]]:
    """The config files that are not ours, with what they hold."""
    for source in repo.get_sources():
        if source.scheme() == "file" and (folder := Path(source.path)) != CONF:
            yield from ((str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*.yaml")))


def build(cfg):
    """An experiment whose models have studied its samples."""
    experiment = check(cfg)
    study(experiment)
    return experiment
