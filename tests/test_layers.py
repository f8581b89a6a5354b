"""The layers of the code, and its import graph: no circle, short chains. Lazy imports and those for types count, too."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = "components.core"
SHARED = {
    f"components.{name}"
    for name in ("text", "files", "sql", "arithmetic", "sandbox", "prompts", "rubrics", "acting", "building", "faults")
}
FAMILIES = {f"components.{name}" for name in ("radiology", "ehr", "cab", "panel", "medcalc")}
GENERIC = {
    f"components.{name}"
    for name in (
        "agents", "verifiers", "grammars", "memory", "models", "stages", "datasets", "scorers", "conditions", "toolsets",
        "tools",
    )
}  # fmt: skip
ROOMS = GENERIC | FAMILIES
LONGEST_CHAIN = 8  # packages

# What is still to be cut: delete a line with the import that it names.
UPWARD = {
    ("components.files", "components.cab"),
    *(("components.models", family) for family in FAMILIES),
    ("runner", "components.models"), ("runner", "components.verifiers"), ("runner", "components.conditions"),
    ("runner", "components.toolsets"),
}  # fmt: skip
CIRCLES = (
    {"components.core.context", "components.core.protocols", "components.core.types"},
    {f"runner.{name}" for name in ("calls", "ending", "episode", "play", "proposing", "shared")},
    {f"runner.{name}" for name in ("commons", "experiment", "facts", "learning", "run")}
    | {f"runner.learning.{name}" for name in ("bench", "lesson", "prompted", "unread")},
    {"runner.__main__", "runner.sweep.search.sweeper"}
    | {f"runner.sweep.{name}" for name in ("elsewhere", "joblib", "launcher", "others", "ray", "submitit")},
)
PACKAGE_CIRCLES = (
    {f"components.{name}" for name in ("acting", "building", "cab", "files", "prompts")},
    {"components.models.simulated", "components.models.simulated.skills"},
    {"runner"}
    | {f"runner.{name}" for name in ("bundle", "checkup", "config", "journal", "learning", "rating", "results")}
    | {f"runner.{name}" for name in ("results.page", "results.statistics", "sweep", "sweep.search", "tracking")},
)

UNTESTED = {"components/cab/datasets/cab_mini"}  # generators of shipped data, which leave the package

Graph = Mapping[str, frozenset[str]]


@cache
def modules() -> Mapping[str, Path]:
    paths = (path for top in ("components", "runner") for path in (ROOT / top).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports; ``from a import b`` is a.b where that is a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules() else node.module for name in names)


@cache
def module_graph() -> Graph:
    return {name: frozenset(imported(path)) & modules().keys() - {name} for name, path in modules().items()}


def folder(name: str) -> str:
    """The package that a module stands in; a package stands in itself."""
    return name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]


@cache
def package_graph() -> Graph:
    graph: dict[str, set[str]] = {folder(name): set() for name in modules()}
    for name, others in module_graph().items():
        graph[folder(name)] |= {folder(other) for other in others} - {folder(name)}
    return {name: frozenset(others) for name, others in graph.items()}


def reachable(graph: Graph) -> dict[str, set[str]]:
    """Node -> all that it leads to."""
    found = {name: set(others) for name, others in graph.items()}
    for middle in graph:
        for others in found.values():
            if middle in others:
                others |= found[middle]
    return found


def circles(graph: Graph) -> set[frozenset[str]]:
    """The largest groups of nodes that all lead to each other."""
    reach = reachable(graph)
    return {
        frozenset(other for other in graph if other in reach[name] and name in reach[other])
        for name in graph
        if name in reach[name]
    }


@pytest.mark.parametrize(("graph", "known"), [(module_graph, CIRCLES), (package_graph, PACKAGE_CIRCLES)])
def test_no_import_circle_but_those_still_to_be_cut(graph, known):
    new = [sorted(circle) for circle in circles(graph()) if not any(circle <= one for one in known)]
    assert not new, new


def test_chains_of_packages_are_short():
    graph, rings = package_graph(), circles(package_graph())
    ring_of = {name: next((ring for ring in rings if name in ring), frozenset({name})) for name in graph}

    @cache
    def longest(ring: frozenset[str]) -> tuple[str, ...]:
        below = {ring_of[other] for name in ring for other in graph[name]} - {ring}
        return (min(ring), *max(map(longest, below), key=len, default=()))

    chain = max(map(longest, ring_of.values()), key=len)
    assert len(chain) <= LONGEST_CHAIN, chain


def room(name: str) -> str:
    """The top package of a module: ``runner`` or ``components.x``."""
    return "runner" if name.startswith("runner") else ".".join(name.split(".")[:2])


def layer(name: str) -> int:
    return 0 if name == CORE else 1 if name in SHARED else 2 if name in ROOMS else 3


def test_every_package_has_its_layer_and_imports_lower_ones_only():
    wrong = set()
    for name, others in module_graph().items():
        mine = room(name)
        for theirs in {room(other) for other in others} - {mine, "components"}:
            upward = layer(theirs) > layer(mine) or layer(theirs) == layer(mine) == 2
            if (upward or (mine == "runner" and theirs in ROOMS)) and (mine, theirs) not in UPWARD:
                wrong.add((name, theirs))
    assert not wrong, sorted(wrong)
    assert {room(name) for name in modules()} - {"components"} == {"runner", CORE, *SHARED, *ROOMS}


def test_components_has_no_loose_module():
    assert [path.name for path in (ROOT / "components").glob("*.py")] == ["__init__.py"]


def test_tests_mirror_packages():
    """A package with code has a folder of tests, or one in the folder of the package around it."""
    packages = {path.parent for name, path in modules().items() if name.startswith("components") and path.read_text()}
    lacking = []
    for package in packages - {ROOT / "components"}:
        mirror = ROOT / "tests" / package.relative_to(ROOT)
        if not any(mirror.glob("test_*.py")) and not (mirror.parent / f"test_{package.name}.py").is_file():
            lacking.append(package.relative_to(ROOT).as_posix())
    assert set(lacking) <= UNTESTED, lacking
    rooms = {
        path.parent.relative_to(ROOT / "tests").parts[:2] for path in (ROOT / "tests/components").rglob("test_*.py")
    }
    strange = ["/".join(parts) for parts in rooms if not ROOT.joinpath(*parts).is_dir()]
    assert not strange, strange
