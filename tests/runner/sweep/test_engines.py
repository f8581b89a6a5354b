"""Which launchers run jobs in other processes through this project's engines."""

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import create_config_search_path
from hydra.types import RunMode
from hydra.utils import get_class

from runner.config.catalogue import CONF
from runner.sweep.engines import ENGINES, Ray, engine_of
from runner.sweep.plugins import register


@pytest.mark.parametrize("choice", ["joblib", "submitit_local", "submitit_slurm", "ray"])
def test_every_launcher_of_the_documentation_is_in_the_table_under_its_target(choice):
    register()
    extra = choice.partition("_")[0]
    if extra != "ray":
        pytest.importorskip(f"hydra_plugins.hydra_{extra}_launcher", reason=f"extra {extra}")
    loader = ConfigLoaderImpl(create_config_search_path(str(CONF)))
    config = loader.load_configuration("config", [f"hydra/launcher={choice}"], RunMode.MULTIRUN)
    target = config.hydra.launcher._target_
    kind = get_class(target)
    assert target in ENGINES and f"{kind.__module__}.{kind.__qualname__}" == target


def test_other_launchers_are_left_unchanged_under_any_name():
    register()
    ray = Ray()
    ray.settings = None
    assert engine_of(ray) is not None
    assert engine_of(type("JoblibLauncher", (), {})()) is None and engine_of(type("Ray", (Ray,), {})()) is None
