"""Prompt sets: folders of ``.jinja`` files, rendered with undefined variables forbidden.

What several sets share is in ``_shared/``: ``{% include "_shared/conclude.jinja" %}``. Custom folders may include any
file below this folder, too. They are rendered in the template language's sandbox, and what a model wrote is only text
with names in it (``components.prompts.plain``).
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
import yaml
from jinja2 import nodes
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from components.core.errors import ConfigError
from components.core.messages import Image, Message, Role
from components.prompts.plain import WRITTEN, flaw_in, is_plain, pieces, rules_of, shown_by
from components.text.structured import parse
from components.text.words import meant

_ROOT = Path(__file__).resolve().parent
_SHORT, _REMEMBERED = 1000, 512
_SWITCHES = "switches"  # the file switches.yaml: values and templates that only a setting of the agent asks for
_OUTSIZED = (OverflowError, RecursionError, MemoryError)  # of ranges, macros and texts without an end
OWN = "WARDROUND_PROMPTS"  # the environment variable that names the folder of custom sets


class PromptSet:
    """The templates of one folder, by its ``name`` as it was requested. ``digest`` identifies their texts, with what
    they include, and those of the data files next to them (``.yaml``); ``written`` are the templates by a model."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.texts = texts = {path.stem: self._read(path) for path in sorted(folder.glob("*.jinja"))}
        self._data = {path.name: self._read(path) for path in sorted(folder.glob("*.yaml"))}
        kind = jinja2.Environment if folder.resolve().parent == _ROOT else ImmutableSandboxedEnvironment
        self._environment = environment = kind(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
        )
        self._trees: dict[str, nodes.Template] = {}
        self.written = self._checked()
        self._included = included = _included(environment, name, self._trees.values())
        environment.loader = jinja2.DictLoader(included)
        whole = "\0".join(f"{k}\0{v}" for k, v in (texts | self._data | included).items())
        self.digest = sha256(whole.encode()).hexdigest()[:16]
        self._made: dict[tuple[object, ...], Message] = {}
        self._templates: dict[str, jinja2.Template] = {}  # ours are compiled when they are first rendered
        if kind is not jinja2.Environment:
            self._templates.update((stem, environment.from_string(tree)) for stem, tree in self._trees.items())
        self._pieces = {stem: found for stem, text in texts.items() if (found := pieces(text))}

    def _read(self, path: Path) -> str:
        """A file of the set. Raises ConfigError."""
        try:
            if not path.is_file() and not path.is_dir():  # of a pipe or a device, reading has no end
                raise ConfigError(f"prompt {self.name}/{path.name}: must be a file or a link to one")
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(f"prompt {self.name}/{path.name}: byte {error.start} is not UTF-8") from None
        except OSError as error:
            raise ConfigError(f"prompt {self.name}/{path.name}: {error.strerror}") from None

    def _checked(self) -> Collection[str]:
        """The templates that a model wrote. Raises ConfigError for one that is not plain, and for any that does not
        parse."""
        try:
            rules = rules_of(self.data(WRITTEN)) if self.holds(WRITTEN) else {}
        except ValueError as error:
            raise ConfigError(f"prompt set {self.name!r}: {WRITTEN}.yaml: {error}") from None
        for template, (names, needs) in rules.items():
            if template not in self.texts:
                raise ConfigError(f"prompt {self.source(template)}: the file is missing, which {WRITTEN}.yaml lists")
            if flaw := flaw_in(self.texts[template], names, needs):
                raise ConfigError(f"prompt {self.source(template)}: {flaw}")
        for template, text in self.texts.items():
            try:
                self._trees[template] = self._environment.parse(text)
            except jinja2.TemplateSyntaxError as error:
                raise ConfigError(f"prompt {self.source(template)}, line {error.lineno}: {error.message}") from None
            except RecursionError:
                raise ConfigError(f"prompt {self.source(template)}: it is nested too deep") from None
        return rules.keys()

    def plain(self, template: str) -> str | None:
        """A template as text with ``{{ name }}``; None where it does more with what it is given. The ``values`` that
        the set's ``switches.yaml`` lists are empty here, its ``templates`` are left out."""
        text, switched = self.texts[template], self.data(_SWITCHES) if self.holds(_SWITCHES) else {}
        if template in switched.get("templates", ()):
            return None
        if is_plain(text):
            return text.strip()
        switches = switched.get("values", ())
        shown = shown_by(self._environment, text, switches, self._included.__getitem__)
        if shown is None:
            return None
        return self.render(template, **dict.fromkeys(switches, ""), **{name: f"{{{{ {name} }}}}" for name in shown})

    def names(self, template: str) -> set[str]:
        """What a template has to be given, also for what it includes."""
        tree = self._trees[template]
        trees = map(self._environment.parse, _included(self._environment, self.name, [tree]).values())
        return set().union(*map(find_undeclared_variables, (tree, *trees)))

    def source(self, template: str) -> str:
        """The prompt file as messages name it."""
        return f"{self.name}/{template}.jinja"

    def holds(self, name: str) -> bool:
        """Whether the set has the file ``<name>.yaml``."""
        return f"{name}.yaml" in self._data

    def data(self, name: str) -> Any:
        """What the file ``<name>.yaml`` of the set holds. Raises ConfigError."""
        if (text := self._data.get(f"{name}.yaml")) is None:
            raise ConfigError(f"prompt set {self.name!r} has no {name}.yaml")
        try:
            return parse(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"prompt set {self.name!r}: {name}.yaml: {error}".replace("\n", " ")) from None

    def render(self, template: str, **values: Any) -> str:
        """Fill a template. Raises ConfigError when the set lacks it or a value is not given."""
        plain = self._pieces.get(template, ())
        if plain and all(type(values.get(name)) is str for name in plain[1::2]):
            return "".join([values[one] if n % 2 else one for n, one in enumerate(plain)]).strip()
        try:
            if template not in self._templates:
                self._templates[template] = self._environment.from_string(self._trees[template])
            return self._templates[template].render(**values).strip()
        except KeyError:
            have = ", ".join(sorted(self.texts))
            raise ConfigError(f"prompt set {self.name!r} has no {template}.jinja; it has {have}") from None
        except (jinja2.UndefinedError, jinja2.exceptions.SecurityError, *_OUTSIZED) as error:
            raise ConfigError(f"prompt {self.source(template)}: {str(error) or type(error).__name__}") from None

    def system(self, template: str, **values: Any) -> Message:
        """A system message from a template."""
        return self._message("system", template, values)

    def user(self, template: str, images: tuple[Image, ...] = (), **values: Any) -> Message:
        """A user message from a template, with images after the text."""
        message = self._message("user", template, values)
        return replace(message, content=(message.text, *images)) if images else message

    def assistant(self, template: str, **values: Any) -> Message:
        """An assistant message that our code wrote in the model's place."""
        return self._message("assistant", template, values)

    def _message(self, role: Role, template: str, values: Mapping[str, Any]) -> Message:
        """Render; messages of few and short values are made once, since episodes repeat them."""
        repeated = all(len(value) < _SHORT if isinstance(value, str) else not value for value in values.values())
        key: tuple[object, ...] = ()
        if repeated:
            key = (role, template, *values, *[one if type(one) is str else (repr(one),) for one in values.values()])
        if key in self._made:
            return self._made[key]
        message = Message(role, self.render(template, **values), source=self.source(template))
        if repeated:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            self._made[key] = message
        return message


def _included(environment: jinja2.Environment, name: str, trees: Iterable[nodes.Template]) -> dict[str, str]:
    """What templates include, and what that includes: path below this folder -> text. Raises ConfigError."""
    found: dict[str, str] = {}
    unread = list(trees)
    while unread:
        for path in find_referenced_templates(unread.pop()):
            if path is None or path.startswith("/") or ".." in path.split("/") or not (_ROOT / path).is_file():
                have = ", ".join(sorted(p.relative_to(_ROOT).as_posix() for p in _ROOT.glob("_shared/*.jinja")))
                raise ConfigError(f"prompt set {name!r} includes {path!r}, which is not shared; shared are {have}")
            if path not in found:
                found[path] = (_ROOT / path).read_text(encoding="utf-8")
                unread.append(environment.parse(found[path]))
    return dict(sorted(found.items()))


def own_folder() -> Path:
    """Where custom sets are found by their names, and where stages write them."""
    return Path(os.environ.get(OWN) or "outputs/.prompts")


def place_of(name: str) -> Path:
    """The folder of a set, which may not exist: the given path, else ours of this name, else a custom one."""
    if "/" in name and Path(name).is_dir():
        return Path(name)
    ours = _ROOT / name
    return ours if ours.is_dir() or "/" in name or not name else own_folder() / name


@lru_cache(maxsize=64)
def load(name: str) -> PromptSet:
    """Load a prompt set by its name in this folder or among custom ones, or by the path of a folder. Raises ConfigError
    when there is none, or when a template does not parse, includes a missing file, or was written by a model and is not
    plain."""
    folder = place_of(name)
    if "/" in name and not Path(name).exists():
        raise ConfigError(f"no prompt set {name!r}: the path does not exist; give that of a folder of .jinja files")
    if not folder.is_dir():
        places = [*_ROOT.iterdir(), *(own_folder().iterdir() if own_folder().is_dir() else ())]
        have = sorted(p.name for p in places if p.is_dir() and not p.name.startswith(("_", ".")))
        known = f"{meant(name, have)}there are {', '.join(have)}"
        raise ConfigError(f"no prompt set {name!r}; {known}, or give the path of a folder of .jinja files")
    return PromptSet(name, folder)
