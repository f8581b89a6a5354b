"""Hydra for tests that compose many configs."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hydra import initialize_config_dir
from hydra._internal import config_loader_impl
from hydra.core.hydra_config import HydraConfig

from runner.config.hydra_patches import Kept
from runner.config.roots import CONF
from runner.sweep.plugins import register


@contextmanager
def composing() -> Iterator[None]:
    """Our ``conf``, in which every file is read once, as the command does it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config_loader_impl, "ConfigRepository", Kept)
        register()
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield
    HydraConfig.instance().cfg = None
