"""What Hydra, OmegaConf and YAML could not read, in one line each."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import ConfigCompositionException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, GrammarParseError, OmegaConfBaseException

from components.core.errors import ConfigError
from runner.config.catalogue import CONF, Catalogue, other_folder
from runner.config.composed import COMMAND, UNPACKAGED
from runner.config.errors import Finding, format_value, near, nearest
from runner.config.hydra_patches import get_args_parser

_EXTRAS = {"joblib": "joblib", "submitit_local": "submitit", "submitit_slurm": "submitit"}  # Hydra's plugins
_RETIRED = {  # key -> what replaces it
    "memory.fixed": "demonstrations are those of memory.prompts, for any agent: memory=demonstrations agent.shots=1",
    "agent.shots": "this agent shows no demonstrations from a memory; few_shot and agents that act with tools do",
    "memory.k": "how many solved tasks are shown is agent.shots",
}
_RETIRED |= {"search": "search.* needs hydra/sweeper=optuna"} | {  # Optuna's names -> ours
    f"hydra.sweeper.{theirs}": f"with hydra/sweeper=optuna it is {ours}"
    for theirs, ours in {
        "n_trials": "search.trials", "n_jobs": "search.at_once", "direction": "search.objectives",
        "sampler": "search.sampler", "search_space": "search.space",
    }.items()
}  # fmt: skip
_MANY = re.compile(r"Ambiguous value for argument '(.*?)'|Sweep parameters '(.*?)'", re.DOTALL)

_IN_FILE = re.compile(r"In '(\w+/[^']*)': Could not override '\w+@experiment\.")
_NO_SETTING = re.compile(r"(Launcher|Sweeper|Searcher)\.__init__\(\) got an unexpected keyword argument '(\w+)'")
_TWICE = re.compile(r"Multiple values for (\w+)\. To override a value use 'override \w+: ([\w/]+)'")


def refuse_misspelled(words: Sequence[str], flags: Collection[str]) -> None:
    """Raise ConfigError for ``--limit=5``, ``limit:5`` and ``GROUP NAME``, which Hydra would not explain, and for
    ``agent=x.yaml``."""
    for before, word in zip(("", *words), words, strict=False):
        key, equals, value = word.partition("=")
        if word.startswith("--") and equals and key not in flags:
            raise ConfigError(f"command line: {word}: write keys without leading dashes: {word.lstrip('-')}")
        if before not in flags and (found := re.fullmatch(r"([\w./@]*\w):([^=]+)", word)):
            raise ConfigError(f"command line: {word}: put = between key and value: {found[1]}={found[2]}")
        if key in ("hydra.run.dir", "hydra.sweep.dir") and not value.strip("\"' "):
            raise ConfigError(
                f"command line: {word}: names no folder; remove it, or name a new one: {key}=outputs/mine"
            )
        if word.isidentifier() and before.isidentifier() and (CONF / before).is_dir():
            raise ConfigError(f"command line: {before} {word}: did you mean {before}={word}?")
        if value.endswith((".yaml", ".yml")) and (CONF / key.lstrip("+")).is_dir():
            raise ConfigError(f"command line: {word}: a choice has no suffix: {word.removesuffix(Path(value).suffix)}")


def refuse_flags(words: Sequence[str]) -> None:
    """Raise ConfigError for a flag that Hydra does not have, or for its value."""
    parser = get_args_parser()

    def refuse(message: str) -> NoReturn:
        if found := re.match(r"argument --info/-i: invalid choice: '(.*?)' \(choose from (.*)\)", message):
            message = f"--info {found[1]}: {nearest(found[1], ['choices', *re.findall(r'[a-z-]+', found[2])])}"
        right = "; --info choices lists the choices of every group" if "--info" in message else ""
        raise ConfigError(f"command line: {message}{right}; flags: python -m runner --hydra-help; keys have no dashes")

    parser.error = refuse  # type: ignore[method-assign]
    parser.parse_args(words)


def invalid_choice(words: Iterable[str], catalogue: Catalogue) -> Finding | None:
    """The first choice that is no name, or list of choices with something else than names in it, which Hydra reports
    without the word, or ends on with a TypeError."""
    for word in words:
        group = word.lstrip("+").partition("=")[0]
        choices = catalogue.choices(group.partition("@")[0])
        if "=" not in word or not choices:
            continue
        override = OverridesParser.create().parse_override(word)
        for value in [*override.sweep_iterator()] if override.is_choice_sweep() else [override.value()]:
            text = "a list of choices holds names only"
            if value is None:
                text = f"null is not a choice; ~{group} leaves the group out where nothing needs it"
            elif not isinstance(value, list):
                text = f"a choice is a name, found {format_value(value)}"
            if not all(isinstance(name, str) for name in (value if isinstance(value, list) else [value])):
                return Finding("", f"{text}; {nearest('', choices)}", f"{COMMAND}: {word}")
    return None


def explain(error: BaseException, overrides: Sequence[str], catalogue: Catalogue) -> Finding:
    """Name the place, the value that was found and the valid values."""
    cause = error.__cause__
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        place = f"{near(Path(mark.name))}:{mark.line + 1}" if mark else "a YAML file"
        return Finding("", f"not valid YAML: {error.problem or error.context}", place)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _no_choice(error.missing_cfg_file, overrides, catalogue)
    if isinstance(error, OverrideParseException):
        text = (
            f"cannot be read as key=value ({_first(error.message)}); quote values that hold brackets, =, commas, "
            """blanks or non-ASCII letters, for Hydra and the shell: 'KEY="VALUE"'"""
        )
        return Finding("", text, f"{COMMAND}: {error.override}")
    if isinstance(error, ConfigCompositionException) and isinstance(cause, ConfigAttributeError | ConfigKeyError):
        return _no_key(cause, overrides, catalogue)
    if several := _MANY.search(str(error)):
        text = "several values make a sweep, which needs -m; one value that is a list is key=[a,b]"
        return Finding("", text, f"{COMMAND}: {several[1] or several[2]}")
    if (finding := _of_file(str(error), overrides, catalogue)) is not None:
        return finding
    if str(error).startswith("In 'config'") and "with ListConfig" in str(error):  # the keys that any agent has
        return Finding("", "a file holds a list where a mapping is expected", _written("agent=", overrides))
    if "must be a string or a list" in str(error) and (found := invalid_choice(overrides, catalogue)) is not None:
        return found
    if isinstance(cause, ConfigError):  # of a launcher or sweeper that Hydra makes
        return Finding("", str(cause), _written(re.escape(str(cause).partition(":")[0]) + "=", overrides))
    if isinstance(cause, GrammarParseError):
        place = _written(r".*\$\{[^}]*$", overrides) or _line(r"\$\{[^}]*$", catalogue) or COMMAND
        return Finding("", f"an interpolation cannot be read: {_first(str(cause))}", place)
    texts = [_first(str(e)) for e in (error, cause) if e is not None and str(e).strip()]
    text = ": ".join(dict.fromkeys(texts)) or type(error).__name__
    key = str(error.full_key or "") if isinstance(error, OmegaConfBaseException) else ""
    named = [o for o in overrides if o in text or (key and o.startswith(f"{key}="))]
    return Finding(key, text, f"{COMMAND}: {named[0]}" if named else "")


def _of_file(text: str, overrides: Sequence[str], catalogue: Catalogue) -> Finding | None:
    """What is wrong with a file that choices are made or swept in; None for anything else."""
    if lacking := _IN_FILE.match(text):
        return Finding("", UNPACKAGED, _file(lacking[1], catalogue))
    if double := _TWICE.match(text):
        group, word = double.groups()
        place = _written(rf"\+{group}=", overrides) or _line(
            rf"- /?{group}(@\S+)?:\s*{word}\b", catalogue, overrides=overrides
        )
        right = f"{group}={word}" if place.startswith(COMMAND) else f"- override /{group}: {word}"
        return Finding("", f"{group} is chosen already; write {right}", place)
    if unknown := _NO_SETTING.search(text):
        group, key = unknown[1].lower().replace("searcher", "sweeper"), unknown[2]
        choice = catalogue.get("hydra", f"{group}/wardround")
        known = [name for name in (choice.own if choice else ()) if name != "_target_"]
        place = _line(rf"\b{key}:", catalogue, overrides=overrides)
        return Finding(f"hydra.{group}.{key}", f"no such key; {nearest(key, known)}", place)
    return None


def _no_choice(missing: str, overrides: Sequence[str], catalogue: Catalogue) -> Finding:
    """A group has no such file, or there is no such config."""
    if "/" not in missing:
        place = _line(rf"^(defaults:.*|\s*- ){re.escape(missing)}\b", catalogue) or f"{COMMAND}: --config-name"
        names = [path.stem for root in catalogue.roots for path in root.glob("*.yaml")]
        return Finding("", f"there is no config {missing!r}; {nearest(missing, names)}", place)
    group, _, choice = missing.rpartition("/") if missing.startswith("hydra/") else missing.partition("/")
    word = rf"\b{re.escape(choice)}\b" if choice else "$"
    place = _written(rf"{group}(@[^=]*)?=.*{word}", overrides)
    place = place or _line(rf"{group}\b.*:.*{word}", catalogue)
    place = place or _line(rf"^(defaults:.*|\s*- ){word}", catalogue, group) or COMMAND
    if group == "hydra/launcher" and choice in _EXTRAS:
        return Finding("", f"this launcher needs an extra: pip install 'wardround[{_EXTRAS[choice]}]'", place)
    options = [*catalogue.choices(group), *(_EXTRAS if group == "hydra/launcher" else ())]
    return Finding(
        "", f"{group} has no choice {choice!r}; {other_folder(group, choice)}{nearest(choice, options)}", place
    )


def _no_key(cause: OmegaConfBaseException, overrides: Sequence[str], catalogue: Catalogue) -> Finding:
    """An override names a key that the composed config does not have."""
    key = str(cause.full_key or cause.key)
    parent = cause.parent_node
    known = [str(k) for k in parent if k not in ("_target_", "hydra")] if isinstance(parent, DictConfig) else []
    if "." not in key:
        word = next((o for o in overrides if o.lstrip("+~").startswith(f"{key}.")), None)
        groups = [group for group, names in catalogue.groups.items() if key in names]
        groups = [group for group in groups if group not in ("experiment", "scorer")]
        if word is not None and groups:  # noisy.rate=1 for condition.rate=1
            right = " or ".join(word.replace(f"{key}.", f"{group}.", 1) for group in groups)
            text = f"no such key; {key} is a choice of {' and '.join(groups)}, whose settings are written {right}"
            return Finding(key, text, f"{COMMAND}: {format_value(word)[1:-1]}")
        known += catalogue.groups
    place = _written(rf"[+~]*{re.escape(key)}([.=]|$)", overrides) or COMMAND
    if options := catalogue.choices(key) if "." not in key else {}:
        return Finding(key, f"is null here, and has no keys; choose one: {key}={', '.join(options)}", place)
    hint = _own_data(parent, catalogue) if key == "dataset.path" else _RETIRED.get(key)
    return Finding(key, f"no such key; {hint or nearest(key.rpartition('.')[2], known)}", place)


def _own_data(node: object, catalogue: Catalogue) -> str:
    """Which datasets read data of one's own in place of a shipped one: that of the same form, and tables."""
    target = node.get("_target_") if isinstance(node, DictConfig) else None
    found = [
        name
        for name, one in catalogue.choices("dataset").items()
        if (one.own.get("_target_"), "path" in one.own) == (target, True)
    ]
    return f"data of your own: {' or '.join(f'dataset={name} dataset.path=...' for name in (*found, 'table'))}"


def _written(pattern: str, overrides: Sequence[str]) -> str:
    found = next((o for o in overrides if re.match(pattern, o)), None)
    return f"{COMMAND}: {format_value(found)[1:-1]}" if found else ""


def _file(name: str, catalogue: Catalogue) -> str:
    group, _, choice = name.partition("/")
    found = catalogue.get(group, choice)
    return near(found.path) if found else name


def _line(pattern: str, catalogue: Catalogue, group: str = "", overrides: Sequence[str] = ()) -> str:
    """The first line that has the pattern, in the files of a group or in all; first in those that overrides choose."""
    ends = tuple("/" + override.lstrip("+").replace("=", "/") for override in overrides)
    for path in sorted(catalogue.files, key=lambda path: not path.with_suffix("").as_posix().endswith(ends)):
        if group and path.parent.name != group.rpartition("/")[2]:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if re.search(pattern, line.partition(" #")[0]):
                return f"{near(path)}:{number}"
    return ""


def _first(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])


def too_deep(words: Sequence[str]) -> ConfigError:
    """What to say of a config that Python could not follow."""
    choices = " ".join(word for word in words if "=" in word)
    return ConfigError(f"a YAML is nested too deep, or lists itself in its defaults; check those of: {choices}")
