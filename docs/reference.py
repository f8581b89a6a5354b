"""The reference of the documentation site: one page per group of conf/, with the type and default of every key.

Comments in a YAML describe its choice and keys; the class that its ``_target_`` names gives the types. Nothing is
imported but that class, and nothing is run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

ROOT = Path(__file__).resolve().parent.parent
CONF = ROOT / "conf"
APART = ("papers", "settings")  # data and machinery, which are not chosen
UNITS = {
    "seconds": "seconds", "usd": "US dollars", "tokens": "tokens", "bytes": "bytes", "per_minute": "per minute",
    "minutes": "minutes", "min": "minutes",
}  # fmt: skip
WORDS = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    NoneType: "null",
    Any: "any",
    Path: "path",
}
AS_FILE = ("experiment", "rubrics")  # groups whose files say more than a table of their keys
INDEX = """# Reference

Generated from `conf/` and the classes that it names. On the command line: `python -m runner --info choices`.

- [Top-level keys](config.md): name, seed, limit, budgets, `run`, `compare`, sandbox.
- [Commands](commands.md): the options of `runner.report`, `runner.compare` and the others.

| group | choices |
|---|---|
{rows}

Choose with `GROUP=NAME`, set a key with `GROUP.KEY=VALUE`: `agent=react agent.max_steps=10`. `null` means none or
automatic, as the meaning of the key states. A default such as `${{sandbox}}` is taken from another key.
"""
_KEY = re.compile(r"^(?P<indent>\s*)(?P<key>[\w./@-]+):(?:\s|$)")
_COMMENT = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\"'#]|(?<=\S)#)*?(?:^|\s)#\s?(?P<text>.*)$")


@dataclass(frozen=True)
class Choice:
    """One YAML file of a group."""

    group: str
    path: Path

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return self.path.relative_to(CONF / self.group).with_suffix("").as_posix()

    @cached_property
    def lines(self) -> list[str]:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def node(self) -> dict[str, Any]:
        """The content of the file, without its defaults list."""
        return {key: value for key, value in self._content.items() if key != "defaults"}

    @cached_property
    def _content(self) -> dict[str, Any]:
        return yaml.safe_load("\n".join(self.lines)) or {}

    @cached_property
    def head(self) -> list[str]:
        """The comment at the head of the file, line by line, without ``@package``."""
        found: list[str] = []
        for line in self.lines:
            if not line.startswith("#"):
                break
            if not line.startswith("# @"):
                found.append(line[1:].removeprefix(" "))
        if not found:
            raise SystemExit(f"{self.path}: its first line must be a comment that describes it")
        return found

    @property
    def start(self) -> int:
        """The number of lines of the comment at the head."""
        return next((number for number, line in enumerate(self.lines) if not line.startswith("#")), len(self.lines))

    @property
    def bases(self) -> list[Choice]:
        """The choices of the same group that this one is based on."""
        names = [one.partition("@")[0] for one in self._content.get("defaults", ()) if isinstance(one, str)]
        own = [name.removeprefix(f"/{self.group}/") for name in names if not name.startswith(("_self_", "optional"))]
        found = [CONF / self.group / f"{name}.yaml" for name in own]
        return [Choice(self.group, path) for path in found if path.is_file()]

    @property
    def chooses(self) -> dict[str, str]:
        """The choices of other groups that come with this one."""
        pairs = [pair for one in self._content.get("defaults", ()) if isinstance(one, dict) for pair in one.items()]
        chosen = {str(key).removeprefix("override ").partition("@")[0].lstrip("/"): value for key, value in pairs}
        return {
            key: f"[{', '.join(value)}]" if isinstance(value, list) else str(value) for key, value in chosen.items()
        }

    @property
    def target(self) -> str | None:
        """The class, which may be that of a base."""
        own = self.node.get("_target_")
        return own or next((base.target for base in self.bases if base.target), None)

    @cached_property
    def comments(self) -> dict[str, str]:
        """Dotted key -> the comment on its line, or on the lines directly above."""
        found: dict[str, str] = {}
        above: list[str] = []
        stack: list[tuple[int, str]] = []
        for line in self.lines[self.start :]:
            if (match := _KEY.match(line)) is None:
                above = [*above, line.strip().lstrip("# ")] if line.strip().startswith("#") else []
                continue
            indent = len(match["indent"])
            stack = [one for one in stack if one[0] < indent] + [(indent, match["key"])]
            comment = _COMMENT.match(line[match.end() - 1 :])
            text = " ".join([*above, *([comment["text"]] if comment else ())])
            if text:
                found[".".join(key for _, key in stack)] = text.strip()
            above = []
        return found


@dataclass(frozen=True)
class Row:
    """One key with its type, default and meaning."""

    key: str
    type: str
    default: str
    meaning: str = ""


def groups() -> dict[str, list[Choice]]:
    """Group -> its choices, by name."""
    folders = sorted(path for path in CONF.iterdir() if path.is_dir() and path.name not in (*APART, "hydra"))
    folders += [CONF / "hydra" / "launcher", CONF / "hydra" / "sweeper"]
    names = [folder.relative_to(CONF).as_posix() for folder in folders]
    return {name: [Choice(name, path) for path in sorted((CONF / name).rglob("*.yaml"))] for name in names}


def located(target: str | None) -> Callable[..., Any] | None:
    """The class or function that a ``_target_`` names; None for those of extras and of plugins."""
    if target is None:
        return None
    module, _, name = target.rpartition(".")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except ModuleNotFoundError:
        return None


def hints_of(factory: Callable[..., Any] | None) -> dict[str, Any]:
    """The types of the arguments."""
    if factory is None:
        return {}
    call = factory.__init__ if inspect.isclass(factory) and not is_dataclass(factory) else factory  # type: ignore[misc]
    try:
        return get_type_hints(call, include_extras=True)
    except (NameError, TypeError):  # a name that only a type checker imports
        return {}


def type_of(hint: Any) -> str:
    """A type in the words of YAML."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return " ".join([type_of(inner[0]), *filter(None, map(bound_of, inner[1:]))])
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(type_of, sorted(inner, key=lambda one: one is NoneType))))
    if hint in WORDS:
        return WORDS[hint]
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"mapping of {type_of(inner[1])}"
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return f"list of {type_of(inner[0])}"
    if getattr(hint, "_is_protocol", False):
        return f"part ({hint.__name__})"
    return "mapping" if inspect.isclass(hint) and (is_dataclass(hint) or issubclass(hint, Mapping)) else "any"


def bound_of(limit: Any) -> str:
    """A limit of a number or text, such as ``>= 1``."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<", "min_length": "at least", "max_length": "at most"}
    values = {name: getattr(limit, name, None) for name in signs}
    return ", ".join(f"{signs[name]} {value}" for name, value in values.items() if value is not None)


def unit_of(key: str) -> str:
    """The unit that a key's name states."""
    name = key.rpartition(".")[2]
    return next((f", {unit}" for word, unit in UNITS.items() if name == word or name.endswith(f"_{word}")), "")


def sentence_on(key: str, factory: Callable[..., Any] | None) -> str:
    """What the docstrings of a class and its bases say of an argument."""
    owners = factory.__mro__ if inspect.isclass(factory) else (factory,)
    for owner in owners:
        text = inspect.getdoc(owner) or ""
        if described := re.search(rf"^    {key}: (.+(?:\n      .+)*)", text, re.M):  # in Args:
            return " ".join(described[1].split()).replace("``", "`").rstrip(".")
        text = " ".join(text.partition("Args:")[0].partition("Raises:")[0].split())
        for sentence in re.split(r"(?<=[.;])\s+(?=``|[A-Z])", text):
            if f"``{key}``" in sentence and not sentence.startswith(f"{getattr(owner, '__name__', '')}("):
                return sentence.removeprefix(f"``{key}``: ").replace("``", "`").rstrip(".")
    return ""


def rows(choice: Choice) -> Iterator[Row]:
    """The keys of a file; of a class that the file names itself, also those that it leaves at their defaults."""
    factory = located(choice.target)
    yield from walk(choice.node, factory, choice.comments, "")
    if factory is not None and "_target_" in choice.node:
        given = {key for base in (choice, *choice.bases) for key in base.node}
        for name, parameter in inspect.signature(factory).parameters.items():
            if name not in given and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                yield argument(name, parameter, factory)


def argument(name: str, parameter: inspect.Parameter, factory: Callable[..., Any]) -> Row:
    """An argument that no YAML states."""
    default = parameter.default
    if default is parameter.empty:
        shown = "required"
    elif isinstance(default, bool | int | float | str | NoneType | tuple | list):
        shown = f"`{written(list(default) if isinstance(default, tuple) else default)}`"
    else:
        shown = "of the class"
    hint = type_of(hints_of(factory).get(name, Any)) + unit_of(name)
    return Row(name, hint, shown, sentence_on(name, factory))


def walk(
    node: Mapping[str, Any], factory: Callable[..., Any] | None, comments: Mapping[str, str], at: str
) -> Iterator[Row]:
    """The keys of a mapping and of the mappings in it."""
    hints = hints_of(factory)
    for name, value in node.items():
        key = f"{at}.{name}" if at else str(name)
        if name == "_target_":
            continue
        hint, meaning = hints.get(str(name), Any), comments.get(key, "") or sentence_on(str(name), factory)
        inner = located(value.get("_target_")) if isinstance(value, dict) else None
        inner = inner or next(
            (one for one in (hint, *get_args(hint)) if inspect.isclass(one) and is_dataclass(one)), None
        )
        if isinstance(value, dict) and value and (inner or has_keys_to_describe(value, comments, key)):
            target = value.get("_target_")
            yield Row(key, "part" if target else "mapping", f"`{target.rpartition('.')[2]}`" if target else "", meaning)
            yield from walk(value, inner, comments, key)
        else:
            yield Row(
                key,
                type_of(hint) + unit_of(key) if hint is not Any else kind_of(value, key),
                f"`{written(value)}`",
                meaning,
            )


def has_keys_to_describe(value: Mapping[str, Any], comments: Mapping[str, str], key: str) -> bool:
    """Whether there are comments on what is in a mapping, or parts in it."""
    parts = any(isinstance(one, dict) and "_target_" in one for one in value.values())
    return parts or any(one.startswith(f"{key}.") for one in comments)


def kind_of(value: object, key: str) -> str:
    """The type of a value where no class states it."""
    if isinstance(value, str):
        return "text" if not value.startswith("${") else "any"
    return {list: "list", dict: "mapping"}.get(type(value), WORDS.get(type(value), "any")) + unit_of(key)


def written(value: object) -> str:
    """A value as YAML has it, on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False, allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...").replace("|", "\\|")


def table(found: Sequence[Row]) -> list[str]:
    """Rows as Markdown."""
    if not found:
        return []
    cells = [
        f"| `{one.key}` | {one.type} | {one.default} | {one.meaning.replace('|', chr(92) + '|')} |" for one in found
    ]
    return ["| key | type | default | meaning |", "|---|---|---|---|", *cells, ""]


def described(choice: Choice) -> list[str]:
    """The section of one choice."""
    first = next((number for number, line in enumerate(choice.head) if line.startswith("  ")), len(choice.head))
    found = [f"## {choice.name}", "", " ".join(choice.head[:first]), ""]
    if notes := choice.head[first:]:
        found += ["```text", *(line.removeprefix("  ") for line in notes), "```", ""]
    facts = [f"based on [`{base.name}`](#{anchor(base.name)})" for base in choice.bases]
    facts += [f"chooses `{group}={name}`" for group, name in choice.chooses.items()]
    facts += [f"class `{choice.node['_target_']}`"] if "_target_" in choice.node else []
    found += [f"*{'; '.join(facts)}*", ""] if facts else []
    if choice.group in AS_FILE:
        return [*found, "```yaml", *choice.lines[choice.start :], "```", ""]
    return [*found, *table(list(rows(choice)))]


def anchor(title: str) -> str:
    """The id that Markdown gives a heading."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())


def group_page(group: str, choices: Sequence[Choice]) -> str:
    """The page of one group: a table of its choices, then one section each."""
    word = f"{group}@scorer.judged.rubric" if group == "rubrics" else group
    index = [f"| [`{one.name}`](#{anchor(one.name)}) | {first(one)} |" for one in choices]
    lines = [f"# {group}", "", f"Choose one with `{word}=NAME`.", "", f"| `{word}=` | |", "|---|---|", *index, ""]
    return "\n".join([*lines, *(line for one in choices for line in described(one))])


def first(choice: Choice) -> str:
    """The first line of a choice's description."""
    return choice.head[0].strip().rstrip(",:").replace("|", "\\|")


def config_page(settings: type) -> str:
    """The page of the keys that belong to no group, from conf/config.yaml and the dataclass of a whole config."""
    choice = Choice("", CONF / "config.yaml")
    found = [row for row in walk(choice.node, settings, choice.comments, "") if not row.key.startswith("hydra")]
    lines = [
        "# Top-level keys",
        "",
        "Set one on the command line: `limit=20`, `budget.run.usd=5`, `run.resume=last`.",
        "",
    ]
    return "\n".join([*lines, *table(found)])


def index_page() -> str:
    """The start of the reference: what stands for what."""
    rows = [f"| [`{group}`]({page_of(group)}) | {len(of)} |" for group, of in groups().items()]
    return INDEX.format(rows="\n".join(rows))


def page_of(group: str) -> str:
    """The file of a group's page."""
    return f"{group.replace('/', '_')}.md"
