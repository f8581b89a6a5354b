"""Our launchers and sweepers, as plugins of Hydra."""

import importlib
import sys
import types
from typing import Any

from hydra.core.plugins import Plugins

from runner.sweep.engines import Ray
from runner.sweep.launcher import Launcher, Sweeper
from runner.sweep.search import Searcher

_HOME = "hydra_plugins"


def register() -> None:
    """Make both known to Hydra."""
    try:
        plugins: Any = importlib.import_module(_HOME)
    except ImportError:
        plugins = sys.modules[_HOME] = types.ModuleType(_HOME)
        plugins.__path__ = []
    plugins.wardround = sys.modules[f"{_HOME}.wardround"] = sys.modules[__name__]
    for kind in (Launcher, Sweeper, Ray, Searcher):
        kind.__module__ = f"{_HOME}.wardround"
        setattr(plugins.wardround, kind.__name__, kind)
        Plugins.instance().register(kind)
