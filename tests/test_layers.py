"""The layers of the code, and its import graph: no circle, short chains. Lazy imports and those for types count, too."""

import importlib.util
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = importlib.util.spec_from_file_location("measure", ROOT / "docs" / "measure.py")
measure = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(measure)
SHARED = {
    "text", "files", "sql", "arithmetic", "sandbox", "prompts", "rubrics", "acting", "building", "faults", "simulation",
}  # fmt: skip
FAMILIES = {"radiology", "ehr", "cab", "panel", "medcalc"}
GENERIC = {
    "agents", "verifiers", "grammars", "memory", "models", "stages", "datasets", "scorers", "conditions",
    "tools",
}  # fmt: skip
ROOMS = GENERIC | FAMILIES
LONGEST_CHAIN = 8  # packages
LOOSE = 12  # modules of runner/ outside of its packages
# What the runner takes from generic rooms: how a model reports an overflow, how a verifier tries candidates, and the
# simulated model that ``python -m runner.serve`` serves.
RUNNER_TAKES = {
    ("runner.episode.door", "models"), ("runner.learning.unread", "verifiers"), ("runner.serve", "models"),
}  # fmt: skip


@cache
def graph():
    return measure.imports_of(measure.modules_of(ROOT))


@cache
def packages():
    return measure.packages_of(graph(), measure.modules_of(ROOT))


def room(name):
    """``x`` of ``components.x.y``; ``runner`` for all of the runner."""
    return "runner" if name.startswith("runner") else name.split(".")[1]


def test_there_is_no_import_circle_of_modules_or_packages():
    assert measure.circles_of(graph()) == [] and measure.circles_of(packages()) == []


def test_chains_of_packages_are_short():
    chain = measure.chain_of(packages())
    assert len(chain) <= LONGEST_CHAIN, chain


def test_every_package_has_its_layer_and_imports_lower_ones_only():
    allowed = {"core": set(), **{name: {"core", *SHARED} for name in SHARED | ROOMS}, "runner": {"core", *SHARED}}
    wrong = {
        (name, room(other))
        for name, others in graph().items()
        for other in others
        if room(other) not in {room(name), *allowed[room(name)]}
    }
    assert wrong == RUNNER_TAKES
    assert {room(name) for name in graph()} == {"runner", "core", *SHARED, *ROOMS}


def test_modules_stand_in_packages():
    assert [path.name for path in (ROOT / "components").glob("*.py")] == ["__init__.py"]
    assert len([path for path in (ROOT / "runner").glob("*.py") if path.stem != "__init__"]) <= LOOSE


def test_the_diagram_of_the_architecture_names_every_package():
    page = (ROOT / "docs" / "architecture.md").read_text()
    drawn = page.partition("```mermaid")[2].partition("```")[0]
    assert {"core", *SHARED, *ROOMS} <= set(re.findall(r"\w+", drawn))


def test_tests_mirror_packages():
    """A package with code has a folder of tests, or one in the folder of the package around it."""
    found = {path.parent for name, path in measure.modules_of(ROOT).items() if name.startswith("components")}
    lacking = []
    for package in found - {ROOT / "components"}:
        mirror = ROOT / "tests" / package.relative_to(ROOT)
        if not any(mirror.glob("test_*.py")) and not (mirror.parent / f"test_{package.name}.py").is_file():
            lacking.append(package.relative_to(ROOT).as_posix())
    assert not lacking
    mirrors = {path.relative_to(ROOT / "tests").parts[:2] for path in (ROOT / "tests/components").rglob("test_*.py")}
    assert [parts for parts in mirrors if not ROOT.joinpath(*parts).is_dir()] == []
