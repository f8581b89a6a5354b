"""A composed config as plain values, and what can be wrong with it before any part is built."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import InterpolationResolutionError, MissingMandatoryValue, OmegaConfBaseException

from components.core.errors import ConfigError
from components.core.redaction import secret_variables
from runner.config.catalogue import Catalogue
from runner.config.errors import ConfigErrors, Finding, nearest
from runner.config.origins import Origins
from runner.terminal.command import is_interrupt

PROFILE = "profile"
_LONG = 16  # characters of a key
_DICTIONARY = re.compile(r"^[~+]|^[^=]*=\s*\{")
_ABSENT = object()


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
                text = "must be given (??? stands in its place)"
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
    return [Finding(changed[0], f"a profile is one frozen set of switches, chosen as a whole: {others}")]


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
        findings.append(Finding("compare.gains", f"no gains {gains!r}; {nearest(gains, have)}"))
    return findings


def _secrets(node: Any, secrets: Mapping[str, str], key: str = "") -> list[Finding]:
    """The texts of a config that hold the value of a secret variable; a short one may be an ordinary word."""
    below = [(f"{key}.{name}".lstrip("."), value) for name, value in node.items()] if isinstance(node, Mapping) else []
    below += [(key, value) for value in node] if isinstance(node, list) else []
    if below:
        return [finding for name, value in below for finding in _secrets(value, secrets, name)]
    held = [name for name, one in secrets.items() if len(one) >= _LONG and isinstance(node, str) and one in node]
    text = "holds the value of the environment variable {}: a key does not belong in a config, name its variable"
    return [Finding(key, text.format(name)) for name in held[:1]]


def with_places(findings: Sequence[Finding], config: DictConfig, loader: ConfigLoader) -> ConfigErrors:
    """The same findings with file and line, or the word of the command line."""
    places, placed = Origins(loader, config), []
    for one in findings:
        named = re.match(r"\w+(\.\w+)+", one.text)  # the text may name a more exact key
        key = named[0] if named and named[0].startswith(f"{one.key}.") else one.key
        placed.append(Finding(one.key, one.text, one.place or places.of(key)))
    return ConfigErrors(placed)
