"""A composed config: its plain values, the file and line or word each is from, and the errors that are found before any
part is built."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from hydra.core.config_loader import ConfigLoader
from hydra.types import RunMode
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, MissingMandatoryValue, OmegaConfBaseException

from components.core.errors import ConfigError
from components.core.redaction import secret_variables
from runner.config.catalogue import Catalogue
from runner.config.errors import ConfigErrors, Finding, near, nearest
from runner.terminal.command import is_interrupt

COMMAND = "command line"
UNPACKAGED = "sets keys of other groups, which needs '# @package _global_' as its first line"
PROFILE = "profile"
_LONG = 16  # characters of a key
_DICTIONARY = re.compile(r"^[~+]|^[^=]*=\s*\{")
_ABSENT = object()


@dataclass(frozen=True)
class Origins:
    """The files and overrides of a composed config."""

    loader: ConfigLoader
    config: DictConfig

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are searched for groups, first hit first."""
        sources = self.loader.get_sources()
        return tuple(Path(s.path) for s in sources if s.scheme() == "file" and s.path)

    @cached_property
    def catalogue(self) -> Catalogue:
        """All files of these folders."""
        return Catalogue(self.roots)

    @cached_property
    def overrides(self) -> list[str]:
        """The words of the command line, as they were given."""
        return words_of(self.config, "task")

    def of(self, key: str) -> str:
        """The address of a key, or of the deepest part of it that is written anywhere."""
        for override in reversed(self.overrides):
            name = override.lstrip("+~").partition("=")[0]
            if name == key or ("." in name and key.startswith((f"{name}.", f"{name}["))):
                return self.of_swept(override) or f"{COMMAND}: {override}"
        return self._find(key)[1] or COMMAND

    def of_swept(self, override: str) -> str:
        """The address of an override that a file has in ``hydra.sweeper.params``; empty for any other."""
        name, _, value = override.lstrip("+~").partition("=")
        values = (self.config.hydra.sweeper.get("params") or {}).get(name)
        return self._find(f"hydra.sweeper.params.{name}")[1] if values and value in str(values) else ""

    def follows(self, key: str, top: str) -> bool:
        """Whether a file has an interpolation of ``top`` at the key or above it."""
        return self._find(key)[2].startswith(f"${{{top}")

    def _find(self, key: str) -> tuple[int, str, str]:
        """How many steps of a key are written anywhere, the address of the last one, its text where it is a scalar."""
        steps, best = re.findall(r"[^.\[\]]+", key), (-1, "", "")
        for package, path in self._files:
            if steps[: len(package)] != package:
                continue
            node, line, depth = yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader), 1, len(package)
            for step in steps[len(package) :]:
                child = None
                if isinstance(node, yaml.MappingNode):
                    child = next(((k, v) for k, v in node.value if k.value == step), None)
                elif isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
                    child = (node.value[int(step)],) * 2
                if child is None:
                    break
                node, line, depth = child[1], child[0].start_mark.line + 1, depth + 1
            if depth > best[0]:
                best = depth, f"{near(path)}:{line}", node.value if isinstance(node, yaml.ScalarNode) else ""
        return best

    @cached_property
    def _files(self) -> list[tuple[list[str], Path]]:
        """(package, file) of everything that was merged, the one that wins first."""
        overrides = [*words_of(self.config, "hydra"), *self.overrides]
        name = self.config.hydra.job.config_name
        # ConfigLoaderImpl's, not in the abstract class
        defaults: Any = self.loader.compute_defaults_list(name, overrides, RunMode.RUN)
        files = []
        for default in reversed(defaults.defaults):
            paths = (root / f"{default.config_path}.yaml" for root in self.roots)
            if (path := next((path for path in paths if path.is_file()), None)) is not None:
                files.append(([p for p in (default.package or "").split(".") if p], path))
        return files


def words_of(config: DictConfig, kind: Literal["hydra", "task"]) -> list[str]:
    """Overrides of one kind; interpolations in them stay unresolved."""
    words = OmegaConf.to_container(config.hydra.overrides[kind], resolve=False)
    return [str(word) for word in words] if isinstance(words, list) else []


def resolve(config: DictConfig) -> dict[str, Any]:
    """The config without its ``hydra`` node, every interpolation resolved. Raises ConfigErrors."""
    plain: dict[str, Any] = {}
    findings = []
    for key in (str(k) for k in config if k != "hydra"):
        try:
            value = config[key]
            is_node = isinstance(value, DictConfig | ListConfig)
            plain[key] = OmegaConf.to_container(value, resolve=True, throw_on_missing=True) if is_node else value
        except OmegaConfBaseException as error:
            if is_interrupt(error):
                raise
            text = str(error).partition("\n")[0]
            if isinstance(error, MissingMandatoryValue):
                text = "must be given (its value is ???)"
            elif variable := re.search(r"Environment variable '([^']*)' not found", text):
                hint = "/path/to/your/data" if variable[1].endswith(("_DIR", "_PATH")) else "..."
                text = f"the environment variable {variable[1]} is not set; set it: export {variable[1]}={hint}"
            elif isinstance(error, InterpolationResolutionError):
                text = f"cannot be resolved: {text}"
            findings.append(Finding(error.full_key or key, text))
    if findings:
        raise ConfigErrors(findings)
    return plain


def resolve_choice(group: str, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """One of our choices, resolved, with ``changes`` (key below the group -> value). Raises ConfigError."""
    choice = Catalogue().find(group, name)
    try:
        content = OmegaConf.to_container(OmegaConf.load(choice.path), resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(f"{group}={name}: {str(error).partition(chr(10))[0]}") from None
    assert isinstance(content, dict), "a choice is a mapping"
    if unknown := next((key for key in changes if key not in content), None):
        raise ConfigError(f"{group}.{unknown}: no such key; {nearest(unknown, content)}")
    return {**{str(key): value for key, value in content.items()}, **changes}


def profile_changes(plain: Mapping[str, Any], config: DictConfig, places: Origins) -> list[Finding]:
    """Attempts to change a profile's single switches, which belong together."""
    changed = []
    for override in places.overrides:
        key = override.lstrip("+~").partition("=")[0]
        whole = "." in key and _DICTIONARY.match(override) is not None
        if key.startswith(f"{PROFILE}.") or (whole and places.follows(key, PROFILE)):
            changed.append(key)
    chosen = places.catalogue.get(PROFILE, str(config.hydra.runtime.choices.get(PROFILE)))
    if chosen and chosen.own != plain.get(PROFILE):
        changed.append(PROFILE)
    if not changed:
        return []
    others = ", ".join(f"{PROFILE}={choice}" for choice in places.catalogue.choices(PROFILE))
    return [Finding(changed[0], f"the switches of a profile cannot be changed; choose one as a whole: {others}")]


def changed_groups(config: DictConfig, places: Origins) -> set[str]:
    """The groups whose parts are not as we ship them: overridden, or from a user's folder."""
    words = [override.lstrip("+~").partition("=")[0] for override in places.overrides]
    groups = {word.partition(".")[0] for word in words if "." in word}
    ours = Catalogue()
    for group, choice in config.hydra.runtime.choices.items():
        if choice is not None and ours.get(group, choice) is None:
            groups |= {str(k) for k in config} if group == "experiment" else {group}
    return groups | ({"grammars"} if "agent" in groups else set())


def invalid_references(cfg: Mapping[str, Any], places: Origins) -> list[Finding]:
    """Values of secret variables; unknown baselines, curves and gains."""
    compare = cfg.get("compare") or {}
    agents = places.catalogue.choices("agent") if compare.get("baselines") else {}
    findings = _secrets({key: node for key, node in cfg.items() if key != "tracking"}, secret_variables())  # of a URI
    lists = {key: value for key in ("baselines", "curves", "figures") if isinstance(value := compare.get(key), list)}
    named = [str(one) for one in lists.get("baselines", ()) if one not in agents]
    findings += [Finding("compare.baselines", f"no agent {n!r}; {nearest(n, agents)}") for n in named if "=" not in n]
    wheres = [one.get("where") for one in lists.get("figures", ()) if isinstance(one, Mapping)]
    keys = {
        "baselines": [n.partition("=")[0].rpartition("@")[2] for n in named if "=" in n],  # a choice: group@key=choice
        "curves": [str(key) for key in lists.get("curves", ())],
        "figures": [str(key) for where in wheres if isinstance(where, Mapping) for key in where],
    }
    for name, key in ((name, key) for name, of in keys.items() for key in dict.fromkeys(of)):
        node: Any = cfg
        for step in key.split("."):
            node = node.get(step, _ABSENT) if isinstance(node, Mapping) else _ABSENT
        if node is _ABSENT:
            findings.append(Finding(f"compare.{name}", f"no key {key!r} in the config"))
    gains = compare.get("gains")
    if isinstance(gains, str) and gains not in (have := Catalogue().choices("papers/gains")):
        findings.append(Finding("compare.gains", f"no published gains {gains!r}; {nearest(gains, have)}"))
    return findings


def _secrets(node: Any, secrets: Mapping[str, str], key: str = "") -> list[Finding]:
    """The texts of a config that hold the value of a secret variable; a short one may be an ordinary word."""
    below = [(f"{key}.{name}".lstrip("."), value) for name, value in node.items()] if isinstance(node, Mapping) else []
    below += [(key, value) for value in node] if isinstance(node, list) else []
    if below:
        return [finding for name, value in below for finding in _secrets(value, secrets, name)]
    held = [name for name, one in secrets.items() if len(one) >= _LONG and isinstance(node, str) and one in node]
    text = "contains the value of the environment variable {}: put no keys into a config, name the variable"
    return [Finding(key, text.format(name)) for name in held[:1]]


def with_places(findings: Sequence[Finding], config: DictConfig, loader: ConfigLoader) -> ConfigErrors:
    """The same findings with file and line, or the word of the command line."""
    places, placed = Origins(loader, config), []
    for one in findings:
        if one.key == "experiment":  # its file has a place of its own
            placed.append(Finding("", UNPACKAGED, places.of("experiment.")))
            continue
        named = re.match(r"\w+(\.\w+)+", one.text)  # the text may name a more exact key
        key = named[0] if named and named[0].startswith(f"{one.key}.") else one.key
        placed.append(Finding(one.key, one.text, one.place or places.of(key)))
    return ConfigErrors(placed)
