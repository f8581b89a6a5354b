"""The generated pages: the reference, and README.md and CHANGELOG.md of the repository."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from functools import cache
from importlib import import_module

from generator.choices import CONF, ROOT, Choice, groups
from generator.keys import Row, rows, walk
from runner.config.schema import Settings

COMMANDS = (
    "runner.report", "runner.compare", "runner.logs", "runner.drift", "runner.protocol", "runner.mcp", "runner.doctor",
    "runner.ui",
    "benchmarks.__main__",
)  # fmt: skip
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
    facts = [f"based on [`{base.name}`](#{anchor(base.name)})" for base in choice.same_group]
    facts += [f"chooses `{group}={name}`" for group, name in choice.chooses.items()]
    facts += [f"class `{choice.content['_target_']}`"] if "_target_" in choice.content else []
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


def config_page() -> str:
    """The page of the keys that belong to no group, from conf/config.yaml and the dataclass of a whole config."""
    choice = Choice(CONF, "", "config")
    found = [row for row in walk(choice.content, Settings, choice.comments, "") if not row.key.startswith("hydra")]
    return "\n".join(
        ["# Top-level keys", "", "Set one on the command line: `limit=20`, `budget.run.usd=5`.", "", *table(found)]
    )


def index_page() -> str:
    """The start of the reference: what stands for what."""
    rows = [f"| [`{group}`]({page_of(group)}) | {len(of)} |" for group, of in groups().items()]
    return INDEX.format(rows="\n".join(rows))


def page_of(group: str) -> str:
    """The file of a group's page."""
    return f"{group.replace('/', '_')}.md"


def pages() -> dict[str, str]:
    """Path below docs/ -> text."""
    found = {"index.md": repository_page("README.md"), "changelog.md": repository_page("CHANGELOG.md")}
    found |= {f"reference/{page_of(group)}": group_page(group, of) for group, of in groups().items()}
    found["reference/index.md"] = index_page()
    found["reference/config.md"] = config_page()
    found["reference/commands.md"] = commands_page()
    return found


def repository_page(path: str) -> str:
    """A file of the repository with its links as seen from docs/; those to files outside of docs/ become plain text."""
    text = re.sub(r"\]\(docs/", "](", (ROOT / path).read_text(encoding="utf-8"))
    return re.sub(r"\[([^\]]+)\]\((?:LICENSE|benchmarks/[^)]*|CHANGELOG\.md)\)", r"\1", text)


def commands_page() -> str:
    """The help of each command."""
    lines = ["# Commands", "", "`python -m runner` takes the choices and keys of [the reference](index.md).", ""]
    for name in COMMANDS:
        lines += [f"## {name.removesuffix('.__main__')}", "", "```text", help_of(name).rstrip(), "```", ""]
    return "\n".join(lines)


@cache
def help_of(module: str, *words: str) -> str:
    """What the ``--help`` of a command, or of a command below it, prints."""
    out, found = io.StringIO(), import_module(module)
    command = found if hasattr(found, "main") else import_module(f"{module}.__main__")  # of a package
    with redirect_stdout(out), suppress(SystemExit):
        command.main([*words, "--help"])
    return out.getvalue()
