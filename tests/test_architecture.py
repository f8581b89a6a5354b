"""The rules of the code that ruff, mypy and import-linter do not check: layers, circles, sizes, packaging, names."""

import ast
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from components.text.structured import read_yaml
from tests.table import each_row

ROOT = Path(__file__).resolve().parent.parent
CONF = ROOT / "conf"
SPEC = importlib.util.spec_from_file_location("measure", ROOT / "docs" / "measure.py")
measure = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(measure)
MODULES = measure.modules_of(ROOT)
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def packages_of(layer: str) -> set[str]:
    """The packages of a layer, as the diagram of docs/architecture.md has them."""
    diagram = (ROOT / "docs" / "architecture.md").read_text().partition("```text")[2].partition("```")[0]
    return set(re.search(rf"^{layer} +([a-z, ]+)$", diagram, re.MULTILINE)[1].split(", "))


SHARED = packages_of("shared packages")
ROOMS = packages_of("generic rooms") | packages_of("family rooms")
LONGEST_CHAIN = 8  # packages
LOOSE = 12  # modules of runner/ outside of its packages
RUNNER_TAKES = {("runner.serve", "models")}  # ``python -m runner.serve`` serves the simulated model


@cache
def graph() -> Mapping[str, set[str]]:
    """Module -> the project modules that it imports."""
    return measure.imports_of(MODULES)


@cache
def packages() -> Mapping[str, set[str]]:
    """Package -> the project packages that it imports."""
    return measure.packages_of(graph(), MODULES)


def tree_of(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return measure.tree_of(MODULES[name])


def nodes_of(name: str) -> list[ast.AST]:
    """All nodes of that tree."""
    return measure.nodes_of(MODULES[name])


@cache
def imports_of(name: str) -> frozenset[str]:
    """All that a module imports, libraries too."""
    return imported(nodes_of(name))


def imported(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The imports among nodes; ``from a import b`` counts as a and a.b."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def file_of(name: str) -> str:
    """The path of a module below the checkout."""
    return MODULES[name].relative_to(ROOT).as_posix()


def package_of(name: str) -> str:
    """``x`` of ``components.x.y``; ``runner`` for all of the runner."""
    return "runner" if name.startswith("runner") else name.split(".")[1]


# Layers and imports


def test_no_import_cycles_of_modules_or_packages():
    assert measure.circles_of(graph()) == [] and measure.circles_of(packages()) == []


def test_chains_of_packages_are_short():
    assert len(longest := measure.chain_of(packages())) <= LONGEST_CHAIN, longest


def test_every_package_is_in_the_diagram_and_imports_lower_layers_only():
    allowed = {"core": set(), **{name: {"core", *SHARED} for name in SHARED | ROOMS}, "runner": {"core", *SHARED}}
    wrong = {
        (name, package_of(other))
        for name, others in graph().items()
        for other in others
        if package_of(other) not in {package_of(name), *allowed[package_of(name)]}
    }
    assert wrong == RUNNER_TAKES
    assert {package_of(name) for name in graph()} == {"runner", "core", *SHARED, *ROOMS}


def test_modules_belong_to_packages():
    assert [path.name for path in (ROOT / "components").glob("*.py")] == ["__init__.py"]
    assert len([path for path in (ROOT / "runner").glob("*.py") if path.stem != "__init__"]) <= LOOSE


def test_tests_mirror_packages():
    """A package with code has a folder of tests, or a test module in the folder of the package around it."""
    without = []
    for package in {path.parent for name, path in MODULES.items() if name.startswith("components")}:
        mirror = ROOT / "tests" / package.relative_to(ROOT)
        if not any(mirror.glob("test_*.py")) and not (mirror.parent / f"test_{package.name}.py").is_file():
            without.append(package.relative_to(ROOT).as_posix())
    assert not without
    mirrors = {path.relative_to(ROOT / "tests").parts[:2] for path in (ROOT / "tests/components").rglob("test_*.py")}
    assert [parts for parts in mirrors if not ROOT.joinpath(*parts).is_dir()] == []


LIBRARIES = {  # library -> the files that may import it
    "hydra": (
        "runner/__main__.py", "runner/config/*", "runner/experiment/*", "runner/job/*", "runner/serve.py",
        "runner/sweep/*",
    ),
    "hydra._internal": ("runner/config/hydra_patches.py",),
    "mlflow": ("runner/tracking/*", "runner/ui.py"),
    "litellm": ("components/models/litellm_chat.py",),
    "aiohttp": (
        "components/agents/external/endpoint.py", "components/fhir/serve.py", "components/models/simulated/serve.py",
        "components/serving/*", "components/web/*", "runner/mcp.py",
    ),
    "mcp": (
        "components/agents/external/endpoint.py", "components/serving/tools.py", "components/tools/mcp/*",
        "runner/mcp.py",
    ),
    "httpx2": ("components/agents/external/endpoint.py", "components/tools/mcp/*"),
    "httptools": ("components/models/http_connection.py",),
    "jinja2": ("components/prompts/*.py", "runner/results/render/formats.py"),
    "unittest.mock": (),
}  # fmt: skip


@each_row("library", LIBRARIES)
def test_a_library_is_imported_by_its_own_files_only(library):
    names = (library, "omegaconf") if library == "hydra" else (library,)
    users = [file_of(m) for m in MODULES if any(i == n or i.startswith(f"{n}.") for i in imports_of(m) for n in names)]
    assert [user for user in users if not any(fnmatch(user, allowed) for allowed in LIBRARIES[library])] == []


# Files, and where they are used


def test_every_yaml_is_short_and_begins_with_a_description():
    for path in CONF.rglob("*.yaml"):
        text = path.read_text()
        assert path.name == "config.yaml" or len(text.splitlines()) <= 40, path
        assert re.match(r"(# @package \S+\n)?# \S", text), path


def targets(node: Any) -> Iterator[str]:
    """The ``_target_`` of a config and of all parts in it."""
    if isinstance(node, Mapping):
        yield from (str(value) for key, value in node.items() if key == "_target_")
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from targets(inner)


NO_YAML = {  # modules that no YAML of conf/ targets, and nothing imports
    "components.models.scripted": "a model for tests and demonstrations, given in code",
    "components.ehr.cell": "imported by the sandbox, by its name",
    "components.sandbox.zygote": "a process of its own",
    "components.sandbox.probe": "imported by the sandbox, by its name",
    "components.tools.medrag_index": "a command",
    "components.fhir.export": "a command",
    "components.fhir.serve": "a command",
}


def test_every_component_is_targeted_by_a_yaml_or_imported():
    targeted = {target.rpartition(".")[0] for path in CONF.rglob("*.yaml") for target in targets(read_yaml(path))}
    parts = {name for name in MODULES if name.startswith("components.")}
    runners = {other for name in MODULES if name.startswith("runner") for other in graph()[name]}
    reached, rest = set(), (targeted & parts) | {"components.core.protocols", *NO_YAML} | (runners & parts)
    while rest:
        reached |= rest
        rest = set().union(*(graph()[one] for one in rest)) & parts - reached
    assert parts - reached == set()
    assert set(NO_YAML) <= parts and not set(NO_YAML) & targeted


GLOSSARY = {"pipeline", "bot", "rollout", "conversation", "dialogue", "reflector", "evaluator", "reward", "utils"}
VAGUE = {"utils", "util", "helper", "helpers", "common", "misc"}


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Public classes, functions and methods."""
    for node in (*tree.body, *(n for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body)):
        if isinstance(node, FUNCTIONS | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def problems(name: str) -> Iterator[str]:
    """The style problems of a module."""
    tree = tree_of(name)
    if len(MODULES[name].read_text().splitlines()) > 300:
        yield "longer than 300 lines"
    if not ast.get_docstring(tree):
        yield "no docstring"
    if set(MODULES[name].stem.split("_")) & VAGUE:
        yield "a name that says nothing"
    for node in definitions(tree):
        stub = isinstance(node, FUNCTIONS) and ast.dump(node.body[0]) == "Expr(value=Constant(value=Ellipsis))"
        if not ast.get_docstring(node) and not stub:
            yield f"{node.name} has no docstring"
        if {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", node.name)} & GLOSSARY:
            yield f"{node.name}: see the glossary"
    for node in nodes_of(name):
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= 50:
            yield f"{node.name} is longer than 50 lines"
        broad = isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) == "Exception")
        if broad and name != "runner.episode.episode":
            yield f"a broad except in line {node.lineno}"


def test_files_and_functions_are_short_and_documented():
    assert [f"{file_of(name)}: {one}" for name in MODULES for one in problems(name)] == []


def test_files_and_functions_are_small():
    lengths = sorted(
        n.end_lineno - n.lineno + 1 for name in MODULES for n in nodes_of(name) if isinstance(n, FUNCTIONS)
    )
    assert median(lengths) <= 10 and lengths[int(0.9 * len(lengths))] <= 30
    assert median(len(path.read_text().splitlines()) for path in MODULES.values()) <= 150


# The runner knows no benchmark, and reads only the declarations of parts

BENCHMARKS = re.compile(
    r"\b(rad_?a_?bench|rada?agent|medqa|pubmedqa|reflec_?tool|medagents?|ehr_?agent|reflexion|re_?act|chameleon|mimic|"
    r"eicu|xml_call|bracket_json|native_tools|radiology)\b",
    re.IGNORECASE,
)
# Files of the runner that read attributes of libraries by names that are not known beforehand; never of parts.
LOOK_AT_LIBRARIES = {
    "runner/checkup/machine.py", "runner/config/build.py", "runner/config/hydra_patches.py", "runner/config/targets.py",
    "runner/results/arrays.py", "runner/storage/resume.py", "runner/storage/stored.py",
    "runner/sweep/search_space.py",
}  # fmt: skip


def test_the_runner_names_no_method_dataset_or_benchmark():
    runner = [name for name in MODULES if name.startswith("runner")]
    assert {file_of(name): found for name in runner if (found := BENCHMARKS.findall(MODULES[name].read_text()))} == {}


def test_runner_reads_only_declared_attributes_of_parts():
    """In components.core.traits."""
    probing = {
        file_of(name)
        for name in MODULES
        if name.startswith("runner")
        for node in nodes_of(name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
    }
    assert probing == LOOK_AT_LIBRARIES


def runtime_protocols(name: str) -> set[str]:
    """The protocols of a module that isinstance accepts."""
    classes = [node for node in tree_of(name).body if isinstance(node, ast.ClassDef)]
    return {one.name for one in classes if "runtime_checkable" in map(ast.unparse, one.decorator_list)}


def test_runner_checks_no_protocol_with_isinstance():
    """The methods of a part do not imply its capabilities, which are declared."""
    protocols = runtime_protocols("components.core.protocols") | runtime_protocols("components.core.learning")
    assert {"Model", "Memory", "Stage"} <= protocols
    asking = {
        (file_of(name), ast.unparse(node))
        for name in MODULES
        if name.startswith("runner")
        for node in nodes_of(name)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        if protocols & set(re.findall(r"\w+", ast.unparse(node.args[1])))
    }
    assert asking == set()
    assert [name for name in MODULES if name.startswith("runner") and runtime_protocols(name)] == []


def test_tests_use_no_mocks():
    mocks = re.compile(r"unittest\.mock|MagicMock|\bmocker\b|\bpatch\(|setattr\((components|runner)\.")
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    assert [path for path in files if mocks.search(path.read_text())] == []


# Packaging

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LATE = {  # modules that are imported with what they are for, and not before
    "components.agents.external.endpoint",
    "components.serving.tools",
    "components.tools.mcp.sessions",
    "components.tools.mcp.transports",
    "components.tools.privacy_presidio",
}


def libraries(requirements: Iterable[str]) -> set[str]:
    """The names of distributions."""
    return {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in requirements}


def test_every_imported_library_is_declared_and_optional_ones_are_imported_late():
    required = libraries(PROJECT["project"]["dependencies"])
    optional = libraries(chain(*PROJECT["project"]["optional-dependencies"].values()))
    owners = {**packages_distributions(), "Levenshtein": ["python-Levenshtein"]}  # which installs Levenshtein
    ours = {*sys.stdlib_module_names, "components", "runner"}

    def undeclared(names: Iterable[str], declared: set[str]) -> set[str]:
        tops = {name.partition(".")[0] for name in names} - ours
        return {top for top in tops if not libraries(owners.get(top, [top])) & declared}

    for name in MODULES:
        assert not undeclared(imports_of(name), required | optional), name
        assert name in LATE or not undeclared(imported(tree_of(name).body), required), name


def test_data_files_are_in_the_package():
    packaging = PROJECT["tool"]["setuptools"]
    include, patterns = packaging["packages"]["find"]["include"], packaging["package-data"]["*"]
    assert packaging["packages"]["find"]["namespaces"]
    for top in ("components", "runner", "conf"):
        for path in (p for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            package = ".".join(path.relative_to(ROOT).parent.parts)
            assert any(fnmatch(package, one) for one in include), path
            assert path.suffix == ".py" or any(fnmatch(path.name, one) for one in patterns), path
