"""The only file that names private parts of Hydra and OmegaConf: composing again takes a sixth of the time."""

import pickle
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeVar

import hydra
import omegaconf
import yaml
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.callbacks import Callbacks
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository, IConfigRepository
from hydra._internal.defaults_list import DefaultsList
from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.default_element import ResultDefault
from hydra.core.hydra_config import HydraConfig
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType, ValueType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, _utils, base, flag_override, grammar_parser

from components.core.errors import ConfigError
from runner.config.catalogue import Catalogue
from runner.config.errors import near

Plugins.instance()  # before the import below: its scan would load that module a second time
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper  # noqa: E402

__all__ = ["KNOWN", "BasicSweeper", "Callbacks", "Kept", "apply_patches", "get_args_parser", "refuse_illegible"]

T = TypeVar("T")
KNOWN = ("1.3", "2.3")  # Hydra and OmegaConf, whose private names are known
_SETS_MODE = re.compile(r"\+{0,2}hydra\.(mode|searchpath)=")
_VALUE = r"(?!(?:true|false|null|nan|inf)$)[a-z](?:[\w./:-]*\w)?|0|[1-9]\d*"
_PLAIN = re.compile(rf"([a-z_]\w*(?:\.[a-z_]\w*)*)=({_VALUE})", re.ASCII | re.IGNORECASE)  # key=text or key=number
_PARTS = re.compile(r"\+{0,2}run\.shards=(?!null$|1$)|hydra/sweeper=optuna$")
_EXPERIMENT = re.compile(r"\+?experiment=")
_NAMES_MODE = re.compile(r"\bmode\b|/hydra\b")
_COMPOSED_MODE = Hydra.get_mode
_MULTIRUN = Hydra.multirun
_YAML_LOADER = _utils.get_yaml_loader
_MAP_OF_CHOICES = defaults_list._create_interpolation_map
_LIST = defaults_list.create_defaults_list
_MERGED = ConfigLoaderImpl._compose_config_from_defaults_list
_MOST_KEPT = 512  # files and merged configs, of up to 35 kB each
_PARSE_RULE = OverridesParser.parse_rule
_MOST_PARSED = 1024  # interpolations, and words of the command line


class Kept(ConfigRepository):
    """Reads every file once, and is not copied for every group that is listed and every config composed."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Kept":
        return self

    def initialize_sources(self, config_search_path: Any) -> None:
        """Look in these folders from now on."""
        self._kept: dict[Any, bytes] = {}
        super().initialize_sources(config_search_path)

    def once(self, key: Any, make: Callable[[], T]) -> T:
        """A copy of what was made under a key; our own bytes, unpickled in a seventh of the time of a deepcopy."""
        if key in self._kept:
            copied: T = pickle.loads(self._kept[key])
            return copied
        if len(self._kept) == _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = pickle.dumps(made := make(), pickle.HIGHEST_PROTOCOL)
        return made

    def load_config(self, config_path: str) -> ConfigResult | None:
        """What the file holds."""
        return self.once(config_path, partial(self._load, config_path))

    def _load(self, config_path: str) -> ConfigResult | None:
        source = self._find_object_source(config_path, ObjectType.CONFIG)
        if source is not None and source.scheme() == "file":
            refuse_illegible(Path(source.path, source._normalize_file_name(config_path)))
        return super().load_config(config_path)


@cache
def apply_patches() -> None:
    """Apply all patches, once per process; for unknown versions only those that decide the mode."""
    setattr(Hydra, "get_mode", _mode)  # noqa: B010  # a method
    if (hydra.__version__.rpartition(".")[0], omegaconf.__version__.rpartition(".")[0]) != KNOWN:
        return
    setattr(defaults_list, "_create_interpolation_map", _choices)  # noqa: B010  # a name that is not exported
    setattr(config_loader_impl, "ConfigRepository", Kept)  # noqa: B010  # a name that is not exported
    setattr(config_loader_impl, "create_defaults_list", _create_list)  # noqa: B010  # a name that is not exported
    setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", _merge)  # noqa: B010  # a method
    setattr(HydraConfig, "set_config", _show)  # noqa: B010  # a method
    setattr(_utils, "get_yaml_loader", _yaml_loader)  # noqa: B010  # looked up there for every file
    read = lru_cache(_MOST_PARSED)(partial(_read, OverridesParser.create()))
    setattr(OverridesParser, "parse_rule", lambda _, text, rule: copy(read(text, rule)))  # noqa: B010  # a method
    parse = lru_cache(_MOST_PARSED)(grammar_parser.parse)  # of interpolations: pure, the trees are only read
    setattr(base, "parse", parse)  # noqa: B010  # a name that is not exported
    setattr(_utils, "parse", parse)  # noqa: B010  # another


def _read(parser: OverridesParser, text: str, rule: str) -> Any:
    """A word of the command line; the grammar, whose first use takes a twentieth of a start, where it is not plain."""
    plain = _PLAIN.fullmatch(text) if rule == "override" else None
    if plain is None:
        return _PARSE_RULE(parser, text, rule)
    value = int(plain[2]) if plain[2].isdigit() else plain[2]
    return Override(OverrideType.CHANGE, plain[1], ValueType.ELEMENT, value, input_line=text)


def _show(self: HydraConfig, config: DictConfig) -> None:
    """Make the ``hydra`` node known to its resolver: itself, where Hydra copies all of it, three times a run."""
    OmegaConf.set_readonly(config.hydra, True)
    shown = DictConfig({}, flags={"no_deepcopy_set_nodes": True})
    shown.hydra = config.hydra
    shown.hydra._set_parent(config)
    self.cfg = shown  # type: ignore[assignment]  # as Hydra has it


def before_sweeps(prepare: Callable[[], None]) -> None:
    """Have Hydra call this before it makes a sweeper."""

    def multirun(self: Hydra, *arguments: Any, **named: Any) -> Any:
        prepare()
        return _MULTIRUN(self, *arguments, **named)

    setattr(Hydra, "multirun", multirun)  # noqa: B010  # a method


@cache
def _yaml_loader() -> Any:
    """OmegaConf's own loader of YAML; where PyYAML has libyaml, on that, in a ninth of the time."""
    own = _YAML_LOADER()
    parser = getattr(yaml, "CSafeLoader", None)
    kept = {name: getattr(own, name) for name in ("yaml_constructors", "yaml_implicit_resolvers")}
    return own if parser is None else type("Loader", (parser, own), kept)


def _create_list(
    repo: IConfigRepository, config_name: str | None, overrides_list: list[Override], **modes: bool
) -> DefaultsList:
    """The files of a config, listed once for all jobs that make the same choices."""
    settings = defaults_list.Overrides(repo, overrides_list).config_overrides
    others = {id(one) for one in settings}
    chosen = [one for one in overrides_list if id(one) not in others and not one.is_sweep_override()]
    key = (config_name, *modes.items(), *(one.input_line for one in chosen))
    found = _once(repo, key, lambda: _LIST(repo, config_name, chosen, **modes))
    return replace(found, config_overrides=settings)


def _merge(self: ConfigLoaderImpl, defaults: list[ResultDefault], repo: IConfigRepository) -> DictConfig:
    """Files, merged once for all jobs that have the same ones; Hydra's own, which come first, once for all jobs."""
    n = sum(1 for _ in takewhile(lambda one: str(one.package).partition(".")[0] == "hydra", defaults))

    def merge() -> DictConfig:
        if n in (0, len(defaults)):
            return _MERGED(self, defaults, repo)
        config = _merge(self, defaults[:n], repo)
        with flag_override(config, "no_deepcopy_set_nodes", True):
            config.merge_with(_MERGED(self, defaults[n:], repo))
        return config

    return _once(repo, tuple((one.config_path, one.package, one.primary) for one in defaults), merge)


def _once(repo: IConfigRepository, key: Any, make: Callable[[], T]) -> T:
    kept = repo.delegate if isinstance(repo, CachingConfigRepository) else repo
    return kept.once(key, make) if isinstance(kept, Kept) else make()


def _choices(overrides: Any, defaults: Sequence[Any], self_added: bool) -> Any:
    """What an interpolation in a defaults list may name; made where there is one."""
    asked = any(default.is_interpolation() for default in defaults if not default.is_self())
    return _MAP_OF_CHOICES(overrides, list(defaults), self_added) if asked else None


def _mode(self: Hydra, config_name: str | None, overrides: list[str]) -> Any:
    """``hydra.mode`` of the config; composed only where a word or an experiment's file can have set it."""
    if any(map(_PARTS.match, overrides)):
        overrides.append("hydra.mode=MULTIRUN")  # a job that is run in parts is a sweep of them, and so is a search
        return RunMode.MULTIRUN
    may_set = any(map(_SETS_MODE.match, overrides))
    if not may_set and any(map(_EXPERIMENT.match, overrides)):  # any of them may: they may name each other
        sources: Sequence[Any] = self.config_loader.get_sources()
        roots = [Path(source.path) for source in sources if source.scheme() == "file" and source.path]
        experiments = Catalogue(roots).choices("experiment").values()
        may_set = any(_NAMES_MODE.search(line) for choice in experiments for line in choice.lines)
    return _COMPOSED_MODE(self, config_name, overrides) if may_set else None


_MOST_VALUES = 20_000  # OmegaConf takes 70 microseconds for each


def refuse_illegible(path: Path) -> None:
    """Raises ConfigError for a file that is not UTF-8, or whose aliases expand to too much or to themselves."""
    raw = path.read_bytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{near(path)}:{line}: not UTF-8: found the byte {raw[error.start]:#04x}") from None
    if b"&" not in raw or b"*" not in raw:
        return
    try:
        node = yaml.compose(raw, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return  # Hydra says what and where
    if node is not None and _values(node, {}) > _MOST_VALUES:
        raise ConfigError(f"{near(path)}: its aliases expand to more than {_MOST_VALUES:,} values, or to themselves")


def _values(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a node has when every alias is written out."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = float("inf")  # it holds itself, if it is asked for before it is known
        inner = [part for pair in node.value for part in (pair if isinstance(pair, tuple) else (pair,))]
        known[id(node)] = 1 + sum(_values(part, known) for part in inner)
    return known[id(node)]
