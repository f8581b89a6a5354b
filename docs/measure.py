"""The figures of docs/architecture.md: ``python docs/measure.py [CHECKOUT]`` prints them as a table.

An import counts wherever it stands: at the head of a file, in a function, under TYPE_CHECKING.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

TOP = ("components", "runner")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
Graph = Mapping[str, set[str]]


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text())


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All nodes of a file's syntax tree."""
    return list(ast.walk(tree_of(path)))


def modules_of(root: Path) -> dict[str, Path]:
    """Dotted name -> file of every module with code in ``components`` and ``runner``."""
    paths = (path for top in TOP for path in sorted((root / top).rglob("*.py")) if path.read_text().strip())
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imports_of(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports; ``from a import b`` names ``a.b`` where that is a module."""
    return {name: {found for found in _imported(path, modules) if found != name} for name, path in modules.items()}


def _imported(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in modules or node.module in modules:
                    yield inner if inner in modules else node.module


def packages_of(graph: Graph, modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """The same arrows between packages: a module belongs to its folder."""
    home = {name: name if modules[name].stem == "__init__" else name.rpartition(".")[0] for name in graph}
    found: dict[str, set[str]] = {package: set() for package in home.values()}
    for name, imported in graph.items():
        found[home[name]] |= {home[one] for one in imported} - {home[name]}
    return found


def circles_of(graph: Graph) -> list[list[str]]:
    """Groups of nodes that reach each other (strongly connected components of two nodes or more)."""
    found, rest = [], dict(graph)
    while True:
        try:
            TopologicalSorter(rest).prepare()
            return sorted(found)
        except CycleError as error:
            start = error.args[1][0]
        group = {name for name in _reached(start, rest) if start in _reached(name, rest)}
        found.append(sorted(group))
        rest = {name: others - group for name, others in rest.items() if name not in group}


def _reached(start: str, graph: Graph) -> set[str]:
    seen, todo = set[str](), list(graph[start])
    while todo:
        if (one := todo.pop()) not in seen:
            seen.add(one)
            todo += graph[one]
    return seen


def chain_of(graph: Graph) -> list[str]:
    """The longest chain of imports, from the top down. Raises ValueError for a graph with a circle."""
    if circles_of(graph):
        raise ValueError("a graph with a circle has no longest chain")

    @cache
    def below(name: str) -> tuple[str, ...]:
        return (name, *max((below(one) for one in sorted(graph[name])), key=len, default=()))

    return list(max((below(name) for name in sorted(graph)), key=len, default=()))


def probes_in(paths: Iterable[Path]) -> int:
    """Calls of getattr and hasattr."""
    calls = (node for path in paths for node in nodes_of(path) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id in ("getattr", "hasattr") for call in calls)


def figures_of(root: Path) -> dict[str, str]:
    """Name -> figure of a checkout."""
    modules = modules_of(root)
    graph = imports_of(modules)
    packages = packages_of(graph, modules)
    lengths = sorted(len(path.read_text().splitlines()) for path in modules.values())
    functions = sorted(
        node.end_lineno - node.lineno + 1
        for path in modules.values()
        for node in nodes_of(path)
        if isinstance(node, FUNCTIONS) and node.end_lineno
    )
    importers = [sum(name in imported for imported in graph.values()) for name in modules]
    loose = {top: sum(1 for path in modules.values() if path.parent == root / top) for top in TOP}
    return {
        "lines of Python": f"{sum(lengths):,}",
        "files with code": str(len(lengths)),
        "file: median, longest": f"{median(lengths):.0f}, {lengths[-1]}",
        "function: median, longest": f"{median(functions):.0f}, {functions[-1]}",
        "loose modules: components, runner": f"{loose['components']}, {loose['runner']}",
        "modules with one importer": str(importers.count(1)),
        "circles of modules, of packages": f"{len(circles_of(graph))}, {len(circles_of(packages))}",
        "chain of packages": "circular" if circles_of(packages) else str(len(chain_of(packages))),
        "chain of modules": "circular" if circles_of(graph) else str(len(chain_of(graph))),
        "getattr and hasattr in runner": str(probes_in(p for n, p in modules.items() if n.startswith("runner"))),
        "lines of README": str(len((root / "README.md").read_text().splitlines())),
    }


if __name__ == "__main__":
    home = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    for key, figure in figures_of(home).items():
        sys.stdout.write(f"{key:36} {figure}\n")
