"""The rules of the house that a machine can check."""

import ast
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

import jinja2
import jinja2.meta
import pytest

from components.core.messages import Image, Message
from components.core.types import Action, Demonstration, Problem
from components.prompts import load
from components.radiology.tasks import PLANNING_NAMES, REFUSAL_FIELDS
from components.rubrics.rubric import Field, Rubric
from components.text.structured import read_yaml
from components.verifiers.select import Candidate

ROOT = Path(__file__).resolve().parent.parent
CONF, PROMPTS = ROOT / "conf", ROOT / "components" / "prompts"
PYTHON = [path for package in ("components", "runner") for path in sorted((ROOT / package).rglob("*.py"))]
CODE_FILES = [path for path in PYTHON if path.read_text().strip()]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
GLOSSARY = {"pipeline", "bot", "rollout", "conversation", "dialogue", "reflector", "evaluator", "reward", "utils"}
NAMES = {
    "rad_?a_?bench", "rada?agent", "medqa", "pubmedqa", "reflec_?tool", "medagents?", "ehr_?agent", "reflexion", "re_?act",
    "chameleon", "mimic", "eicu", "xml_call", "bracket_json", "native_tools", "radiology",
}  # fmt: skip


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def each_file(paths: Iterable[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", [*paths], ids=name_of)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@each_file(CONF.rglob("*.yaml"))
def test_every_yaml_is_short_and_says_what_it_is(path):
    text = path.read_text()
    assert path.name == "config.yaml" or len(text.splitlines()) <= 40
    assert re.match(r"(# @package \S+\n)?# \S", text)


def targets(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from (str(value) for key, value in node.items() if key == "_target_")
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from targets(inner)


@cache
def imports(path: Path) -> frozenset[str]:
    """Modules that a file imports, wherever it does."""
    return imported(tree_of(path))


def imported(tree: ast.Module) -> frozenset[str]:
    """Modules that code imports; ``from a import b`` counts as a and a.b."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# Commands of their own, and what users and tests name in place of a choice.
ALONE = {
    "components.models.scripted": "a model for tests and demonstrations, given in code",
    "components.ehr.cell": "imported by the sandbox, by its name",
    "components.sandbox.zygote": "a process of its own",
    "components.sandbox.probe": "imported by the sandbox, by its name",
    "components.tools.rxnav": "another backend of DrugBank, for a YAML of one's own",
    "components.tools.medrag_index": "a command",
}


def test_every_component_is_targeted_by_a_yaml_or_shared():
    named = {target.rpartition(".")[0] for path in CONF.rglob("*.yaml") for target in targets(read_yaml(path))}
    modules = {module(path): path for path in CODE_FILES if module(path).startswith("components.")}
    reached, rest = set(), {name for name in named if name in modules} | {"components.core.protocols", *ALONE}
    while rest:
        reached |= rest
        rest = {name for one in rest for name in imports(modules[one]) if name in modules} - reached
    runners = {name for path in CODE_FILES if module(path).startswith("runner") for name in imports(path)}
    assert set(modules) - reached - runners == set()
    assert set(ALONE) <= set(modules) and not set(ALONE) & named


SOLVED = {
    "knowledge": "- One table.", "code": "answer = 1", "actions": "Finish[1]", "sql": "select 1", "plan": ["Finish[1]"],
    "steps": [("Finish[1]", "")],
}  # fmt: skip
LISTS = ("structures", "findings", "sites", "measures", "scores", "histories", "complaints", "steps")
SHOWN = {
    "problem": Problem("p", "Which?", {"A": "one", "B": "two"}, "A man of 40."), "question": "Which?", "context": "A man.",
    "held": '{"$Image$":"x"}', "memory": '{"$Image$":"x"}', "plan": list(PLANNING_NAMES), "instructions": "Call tools.",
    "cards": ['{"Name":"TOOL1"}'], "tools": {"TOOL1": None}, "refusal_fields": REFUSAL_FIELDS,
    "task": "Instruction:\nWhich?", "draft": "B", "previous": [[("Think[{}]", "OK")]], "max_steps": 15,
    "demonstrations": [Demonstration("Instruction:\nWho?", "Action: Think[{}]", SOLVED)], "formats": ['Think[{"response":"..."}]'],
    "guide": {"Think": ["briefly"], "Plan": ()}, "versions": [("Think[{}]", "OK"), ("Plan[{}]", None)],
    "candidates": [Candidate(Action(Message("assistant", "x")), "Think[{}]", "OK")], "chain": "Action: Think[{}]",
    "gold": "B", "before": "Action: Think[{}]", "after": "Action: Plan[{}]", "name": "Plan", "old": [], "new": ["briefly"],
    "schema": "patients(id)", "now": "2100-12-31", "failed": "select", "error": "syntax", "manual": "m",
    "database": "mimic", "general": ["g"], "joins": ["a = b"], "others": ["c"], "tables": ["t"], "examples": [{"question": "q", "hints": "h"}],
    "passages": [], "analyses": [{"side": "question", "field": "Surgery", "text": "It grows."}], "asked": "Which?",
    "advice": [{"field": "Surgery", "text": "Say why."}], "field": "Surgery", "key_knowledge": "It grows.", "side": "option",
    "material": "Question:\nWhich?", "options": "A) one", "report": "Total Analysis: one.", "role": "You are a surgeon.",
    "total_analysis": "One.", "wanted": 2, "reason": True, "reasoning": "It grows.",
    "metadata": {"database": "mimic_iii", "overview": "A hospital.", "columns": "patients: ROW_ID", "clock": "2105-12-31",
                 "groups": True, "state": "cell"},
    "code": True, "knowledge": True, "columns": True, "known": "- patients", "cell": "answer = 1", "cause": "A slip.",
    "described": "Runs code.", "channel": "fence", "state": "cell", "status": "error",
    "actions": [{"name": "Plan", "argument": "name", "about": "plans"}], "done": [("Plan[x]", "OK")], "reflections": ["no"],
    "raised": {"type": "KeyError", "message": "'x'", "line_no": 1, "line": "d['x']"},
    "shots": [{"context": "", "question": "Who?", "choices": {"A": "one"}, "rationale": "So.", "answer": "A",
               "problem": "Who?", "solution": "answer = 1", "data": SOLVED}],
    "links": "- patients", "kinds": ["easy"], "parts": ["Who?"], "sql": "select 1", "told": "1", "module": "LoadDB",
    "query": "how many", "as_object": True, "reflects": True, "proposal": "Which?", "finding": "It needs $Image$.",
    "plans": [{"question": "Which?", "summary": "Say.", "reflection": "So.", "known": [], "chain": list(PLANNING_NAMES)}],
    "replies": [({"memory": "$Image$", "next": "the last", "tools": "TOOL1"}, "<Call>")],
    "answers": [{"question": "Which?", "memory": "$Image$", "answer": "B"}],
    "description": "kg/m2", "parameters": '{"type": "object"}', "cases": [('{"kg": 1}', "2")],
    "card": '{"name":"Bmi"}', "grounds": {"purpose": "a", "category": "none"},
    "templates": [("plan", "Plan.")], "failures": ["It failed."], "played": 9, "slots": ["instructions"],
    "text": "Plan.", "critique": "- In plan: say more", "needs": ["Chain"], "refused": "it is empty", "anatomy": "Chest",
    "modality": "CT", "disease": "gout", "patient": "Female, 45", "rejected": ["short"], "record": "{}",
    "person": "woman aged 45", "openers": ["Look."], "tasks": [{"id": "012", "name": "n", "asks": ["x"], "holds": ["y"]}],
    "lists": {key: ["x"] for key in LISTS},
    "texts": {"Answer": "B"}, "rubric": Rubric("r", "us", "Why?", ["answer"], {"why": Field("Why?", {"a": "x", "b": "y"})}),
}  # fmt: skip


def with_included(path: Path) -> Iterator[jinja2.nodes.Template]:
    tree = jinja2.Environment().parse(path.read_text())
    yield tree
    for name in jinja2.meta.find_referenced_templates(tree):
        yield from with_included(PROMPTS / name)


@each_file(PROMPTS.rglob("*.jinja"))
def test_every_prompt_renders(path):
    trees = list(with_included(path))
    needed = set().union(*map(jinja2.meta.find_undeclared_variables, trees))
    assert needed <= set(SHOWN), "say in SHOWN what this prompt is given"
    message = load(path.parent.name).user(path.stem, (Image("data:x"),), **{name: SHOWN[name] for name in needed})
    assert message.text.strip() and "{{" not in message.text and "{%" not in message.text
    assert message.source == f"{path.parent.name}/{path.name}"


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Public classes, functions and methods."""
    for node in (*tree.body, *(n for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body)):
        if isinstance(node, FUNCTIONS | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}


def is_stub(node: ast.AST) -> bool:
    """A protocol's member whose meaning its name and type say."""
    return isinstance(node, FUNCTIONS) and ast.unparse(node.body) == "..."


@each_file(CODE_FILES)
def test_files_and_functions_are_short_documented_and_typed(path):
    text, tree = path.read_text(), tree_of(path)
    assert len(text.splitlines()) <= 300
    assert ast.get_docstring(tree), "no docstring"
    for node in (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)):
        assert node.end_lineno - node.lineno < 50, node.name
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        untyped = [a.arg for a in given if a is not None and a.annotation is None and a.arg not in ("self", "cls")]
        assert node.returns is not None and not untyped, (node.name, untyped)
    for node in definitions(tree):
        assert ast.get_docstring(node) or is_stub(node), f"{node.name} has no docstring"
        assert not words(node.name) & GLOSSARY, node.name
    assert not set(path.stem.split("_")) & {"utils", "util", "helper", "helpers", "common", "misc"}
    assert sum(isinstance(n, ast.ExceptHandler) and (n.type is None or ast.unparse(n.type) == "Exception")
               for n in ast.walk(tree)) == (path.name == "play.py")  # fmt: skip


def test_the_house_is_made_of_small_pieces():
    lengths = sorted(
        n.end_lineno - n.lineno + 1 for path in CODE_FILES for n in ast.walk(tree_of(path)) if isinstance(n, FUNCTIONS)
    )
    assert median(lengths) <= 10 and lengths[int(0.9 * len(lengths))] <= 30
    assert median(len(path.read_text().splitlines()) for path in CODE_FILES) <= 150


@each_file(path for path in CODE_FILES if module(path).startswith("runner"))
def test_the_runner_names_no_method_dataset_or_benchmark(path):
    found = re.findall(rf"\b({'|'.join(NAMES)})\b", path.read_text(), re.IGNORECASE)
    assert not found, found


# Files of the runner that look at attributes of libraries, by names that are not known beforehand; never of parts.
LOOK_AT_LIBRARIES = {
    "runner/checkup/machine.py", "runner/config/build.py", "runner/config/hydra_patches.py", "runner/config/legible.py",
    "runner/config/targets.py", "runner/results/sections/cards.py", "runner/storage/resume.py", "runner/storage/stored.py",
    "runner/sweep/others.py", "runner/sweep/ray.py", "runner/sweep/search_space.py",
}  # fmt: skip


@each_file(path for path in CODE_FILES if module(path).startswith("runner") and name_of(path) not in LOOK_AT_LIBRARIES)
def test_the_runner_reads_of_parts_only_what_they_declare(path):
    called = {
        node.func.id
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"getattr", "hasattr"}, "read components.core.traits"


def test_the_runner_has_few_loose_modules():
    assert len([*(ROOT / "runner").glob("*.py")]) <= 12


@each_file((ROOT / "tests").rglob("*.py"))
def test_tests_use_no_mocks(path):
    if path != Path(__file__):
        assert not re.search(
            r"unittest\.mock|MagicMock|\bmocker\b|\bpatch\(|setattr\((components|runner)\.", path.read_text()
        )


# Library -> the files that may import it (design 3).
KEPT = {
    "hydra": (
        "runner/__main__.py",
        "runner/config/*",
        "runner/experiment/experiment.py",
        "runner/job/plan.py",
        "runner/job/prepare.py",
        "runner/job/task.py",
        "runner/serve.py",
        "runner/sweep/*",
        "runner/completion.py",
    ),
    "mlflow": ("runner/tracking/*", "runner/ui.py"),
    "litellm": ("components/models/litellm_chat.py",),
    "aiohttp": ("components/models/openai_chat.py", "components/models/simulated/serve.py", "components/tools/web.py"),
    "jinja2": ("components/prompts/*.py", "runner/results/render/html.py"),
    "unittest.mock": (),
}


@pytest.mark.parametrize("library", KEPT)
def test_a_library_is_known_to_its_own_files_only(library):
    names = (library, "omegaconf") if library == "hydra" else (library,)
    users = [name_of(p) for p in CODE_FILES if any(i == n or i.startswith(f"{n}.") for i in imports(p) for n in names)]
    assert [user for user in users if not any(fnmatch(user, allowed) for allowed in KEPT[library])] == []


CORE = "core"
SHARED = {
    "text",
    "files",
    "sql",
    "arithmetic",
    "sandbox",
    "prompts",
    "rubrics",
    "acting",
    "building",
    "faults",
    "simulation",
}


def test_components_do_not_import_the_runner_nor_rooms_each_other():
    rooms = {p.name for p in (ROOT / "components").iterdir() if p.is_dir()} - SHARED - {CORE, "__pycache__"}
    known = {("stages", "radiology")}  # to be cut
    for path in (p for p in CODE_FILES if module(p).startswith("components.")):
        assert not [name for name in imports(path) if name.split(".")[0] == "runner"], path
        room = module(path).split(".")[1]
        others = rooms - {room} - {other for mine, other in known if mine == room}
        reach = {name.split(".")[1] for name in imports(path) if name.startswith("components.") and name.count(".")}
        assert room not in rooms or not reach & others, (path, reach & others)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LATE = "components.tools.privacy_presidio"  # imported with the first text that Presidio checks


def libraries(requirements: Iterable[str]) -> set[str]:
    return {re.match(r"[\w.-]+", one)[0].lower().replace("_", "-") for one in requirements}


def test_every_imported_library_is_declared_and_optional_ones_are_imported_late():
    required = libraries(PROJECT["project"]["dependencies"])
    optional = libraries(chain(*PROJECT["project"]["optional-dependencies"].values()))
    owners = {**packages_distributions(), "Levenshtein": ["python-Levenshtein"]}  # which installs Levenshtein
    ours = {*sys.stdlib_module_names, "components", "runner"}

    def undeclared(names: Iterable[str], declared: set[str]) -> set[str]:
        tops = {name.partition(".")[0] for name in names} - ours
        return {top for top in tops if not libraries(owners.get(top, [top])) & declared}

    for path in CODE_FILES:
        assert not undeclared(imports(path), required | optional), path
        early = ast.Module([node for node in tree_of(path).body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        assert module(path) == LATE or not undeclared(imported(early), required), path


PACKAGING = PROJECT["tool"]["setuptools"]


def test_whatever_lies_beside_the_code_is_in_the_package():
    include = PACKAGING["packages"]["find"]["include"]
    patterns = PACKAGING["package-data"]["*"]
    assert PACKAGING["packages"]["find"]["namespaces"]
    for top in ("components", "runner", "conf"):
        for path in (p for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            package = ".".join(path.relative_to(ROOT).parent.parts)
            assert any(fnmatch(package, one) for one in include), path
            assert path.suffix == ".py" or any(fnmatch(path.name, one) for one in patterns), path
