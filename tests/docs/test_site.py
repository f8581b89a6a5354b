"""README.md and the documentation site: required contents, links, and the generated reference."""

import re
import subprocess
import sys
from functools import cache
from importlib import import_module, util
from itertools import chain

import pytest
import yaml

from runner.config.catalogue import CONF, Catalogue
from tests.docs.pages import PAGES, ROOT, generator, named
from tests.slow import slow
from tests.table import each_row

README = (ROOT / "README.md").read_text(encoding="utf-8")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
_MENTION = re.compile(r"\bdocs/[\w/]+\.md\b")


@cache
def generated() -> dict[str, str]:
    """The generated pages: path below docs/ -> text."""
    return generator().pages()


def test_readme_is_one_page_with_the_notice():
    assert len(README.splitlines()) <= 150
    assert "not a medical device" in README and "make run" in README and "make test" in README


@each_row("page", named(PAGES))
def test_links_of_a_page_resolve(page):
    made = {ROOT / "docs" / path for path in generated()}
    targets = {(page.path.parent / link).resolve() for link in _LINK.findall(page.text)}
    assert not [target for target in targets if not target.exists() and target not in made]


def test_pages_that_the_code_mentions_exist():
    files = chain.from_iterable(
        (ROOT / folder).rglob("*.*") for folder in ("components", "conf", "runner", "benchmarks")
    )
    texts = {path: path.read_text() for path in files if path.suffix in (".py", ".yaml", ".md", ".jinja")}
    texts[ROOT / "CHANGELOG.md"] = (ROOT / "CHANGELOG.md").read_text()
    found = [(path.name, name) for path, text in texts.items() for name in _MENTION.findall(text)]
    assert found and not [one for one in found if not (ROOT / one[1]).is_file()]


def test_files_of_the_project_that_pages_mention_exist(desk):
    examples = {path.relative_to(desk).as_posix() for path in desk.rglob("*.*")} | {"components/agents/twice.py"}
    examples |= {"tests/components/agents/test_twice.py"}
    pattern = re.compile(
        r"\b(?:components|runner|data_builders|benchmarks|tests)/[\w/.-]+\.(?:py|md|yaml|jinja|csv|json)\b"
    )
    mentioned = {(page.name, name) for page in PAGES for name in pattern.findall(page.text) if name not in examples}
    assert mentioned and sorted(one for one in mentioned if not (ROOT / one[1]).is_file()) == []


def test_classes_mentioned_with_their_module_exist():
    modules = [".".join(path.with_suffix("").relative_to(ROOT).parts) for path in (ROOT / "components").rglob("*.py")]
    found = {one for page in PAGES for one in re.findall(r"`((?:[a-z_]+\.)+)([A-Z]\w+)", page.text)}
    assert ("pubmed.", "PubMed") in found
    for place, name in sorted(found):
        homes = [module for module in modules if f".{module}.".endswith(f".{place}")]
        assert any(hasattr(import_module(module), name) for module in homes), f"{place}{name}"


def test_every_page_is_in_the_navigation_once():
    text = (ROOT / "mkdocs.yml").read_text()
    listed = leaves(yaml.safe_load(text[text.index("\nnav:") :])["nav"])  # the lines above have their own tags
    pages = {page.path.relative_to(ROOT / "docs").as_posix() for page in PAGES[1:]} | set(generated())
    assert sorted(listed) == sorted(pages)


def leaves(nav):
    """The pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [page for one in (nav.values() if isinstance(nav, dict) else nav) for page in leaves(one)]


@each_row("group", [*Catalogue().groups])
def test_reference_has_every_choice_and_its_keys(group):
    text = generated()[f"reference/{group}.md"]
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    assert sections.keys() == Catalogue().groups[group].keys()
    for name, section in sections.items():
        node = yaml.safe_load((CONF / group / f"{name}.yaml").read_text()) or {}
        missing = [key for key in node if key not in ("defaults", "_target_") and not re.search(rf"`?{key}`?", section)]
        assert not missing, (name, missing)
    assert not [row for row in text.splitlines() if row.startswith("| [`") and row.count("(") != row.count(")")]


def test_reference_states_type_default_and_unit():
    verifier, config = generated()["reference/verifier.md"], generated()["reference/config.md"]
    assert "| `n` | integer ≥ 1, ≤ 64 | `2` |" in verifier
    assert "| `budget.run.usd` | number ≥ 0 or null, US dollars | `null` |" in config
    assert "| `run.resume` | text or null | `null` | a run folder, or" in config


@slow
@pytest.mark.skipif(util.find_spec("mkdocs") is None, reason="pip install 'wardround[docs]'")
def test_site_builds_in_strict_mode(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
