import pytest

from components.building.specification import read
from components.building.testing import Verdict, is_close, run_call, verdict_on
from components.core.errors import ModelError
from components.sandbox import SandboxError
from tests.components.building.formulas import CLEARANCE, RIGHT, WRONG
from tests.slow import slow
from tests.table import each_row

SPEC = read(CLEARANCE)
HEAD = 'def CockcroftGault(age, weight, creatinine, sex="male"):\n    '


async def test_the_right_formula_passes_on_examples_and_trials(sandbox):
    verdict = await verdict_on(RIGHT, SPEC, sandbox)
    assert verdict.passed and verdict.checked > len(SPEC.examples)


ENDED = {
    "wrong": (WRONG, "expected was 68.0"),
    "raises": (HEAD + "return 1 / (age - 110)\n", "it raised ZeroDivisionError"),
    "a text": (HEAD + "return 'eighty'\n", 'it gave "eighty", which is no number'),
    "not a number": (HEAD + "return float('nan')\n", "which is no number"),
    "too large": (HEAD + "return 10 ** 400\n", "which is no number"),
    "none": (HEAD + "pass\n", "it gave null, which is no number"),
    "no function": ("clearance = 1\n", "name 'CockcroftGault' is not defined"),
    "something else of the name": ("CockcroftGault = 1\n", "'int' object is not callable"),
    "a generator": (HEAD + "while True:\n        yield 1\n", "the code failed with TypeError"),
    "half a character": (HEAD + "return '\\ud800'\n", "which is no number"),
    "no default": (RIGHT.replace('="male"', ""), "it raised TypeError"),
    "no Python": ("def CockcroftGault(:\n", "the code failed with SyntaxError"),
    "no JSON": (HEAD + "return {1, 2}\n", "the code failed with TypeError"),
    "a counter": (
        RIGHT.replace("return ", "global n\n    n += 1e-5\n    return n + ").replace("def", "n = 0\ndef", 1),
        "it is not deterministic",
    ),
}


@slow
@each_row("code, words", ENDED.values())
async def test_code_that_is_not_the_tool_fails_with_the_reason(sandbox, code, words):
    verdict = await verdict_on(code, SPEC, sandbox)
    assert not verdict.passed and words in verdict.reason


HOSTILE = {
    "endless": HEAD + "\n    while True:\n        pass\n",
    "endless at once": "while True:\n    pass\n",
    "ends the process": "import os\nos._exit(0)\n",
    "kills": "import os, signal\nos.kill(0, signal.SIGKILL)\n",
    "reads files": "secret = open('/etc/passwd').read()\n" + RIGHT,
    "asks the network": "import socket\nsocket.create_connection(('127.0.0.1', 80), 1)\n" + RIGHT,
    "forks": "import os\nwhile True:\n    os.fork()\n" + RIGHT,
    "leaves a thread": "import threading\nthreading.Thread(target=print).start()\n" + RIGHT,
    "ends the process later": RIGHT + "class Last:\n    def __del__(self):\n        import os; os._exit(0)\nLast()\n",
    "writes to all files": "import os\nfor one in range(64):\n    try: os.write(one, b'{}')\n    except OSError: pass\n"
    + RIGHT,
    "breaks the process": "import ctypes\nctypes.string_at(0)\n" + RIGHT,
    "takes all memory": "held = bytearray(8 << 30)\n" + RIGHT,
    "forges the answer": RIGHT + "answer = '[]'\nraise SystemExit\n",
    "forges how outputs are written": "import json\njson.dumps = lambda *_: '[' * 100000\n" + RIGHT,
    "writes much": "import json\njson.dumps = lambda *_: 'x' * 10 ** 6\n" + RIGHT,
    "forges one result": "import json\njson.dumps = lambda *_: '[{\"output\": 80.0}]'\n" + RIGHT,
}


QUICK = ("ends the process", "forges the answer", "forges one result")
HOSTILE_CASES = [pytest.param(code, id=name, marks=[slow] * (name not in QUICK)) for name, code in HOSTILE.items()]


@pytest.mark.parametrize("code", HOSTILE_CASES)
async def test_hostile_and_endless_code_changes_nothing_but_its_verdict(sandbox, code, tmp_path):
    verdict = await verdict_on(code, SPEC, sandbox)
    assert not verdict.passed and verdict.reason
    assert (await verdict_on(RIGHT, SPEC, sandbox)).passed


@each_row("name", ["answer", "json", "given", "error", "list"])
async def test_a_tool_may_have_any_name(sandbox, name):
    spec = read({**CLEARANCE, "name": name})
    assert (await verdict_on(RIGHT.replace("CockcroftGault", name), spec, sandbox)).reason == ""


@pytest.mark.parametrize(("default", "stands"), [("male", True), ("female", False)])
async def test_a_default_stands_for_its_parameter(sandbox, default, stands):
    properties = {**SPEC.properties, "sex": {**SPEC.properties["sex"], "default": default}}
    asked = read({**CLEARANCE, "parameters": {**SPEC.parameters, "properties": properties}})
    verdict = await verdict_on(RIGHT, asked, sandbox)
    assert verdict.passed is stands and (stands or "with the default of sex" in verdict.reason)


async def test_a_withheld_example_is_not_disclosed(sandbox):
    shown = [(one.input, one.output) for one in SPEC.examples[:2]]
    by_heart = HEAD + f"return {{json.dumps(i): o for i, o in {shown!r}}}.get(json.dumps(dict(age=age, weight=weight, "
    by_heart += "creatinine=creatinine, sex=sex)), 1.0)\n"
    verdict = await verdict_on("import json\n" + by_heart, SPEC, sandbox, held_back=1)
    assert "this example was not shown" in verdict.reason and "55.56" not in verdict.reason


async def test_a_call_gives_an_output_or_an_error_message(sandbox):
    given = {"age": 60, "weight": 72, "creatinine": 1}
    assert await run_call(RIGHT, SPEC.name, given, sandbox) == {"output": 80.0}
    assert "SystemExit" in (await run_call("raise SystemExit\n", SPEC.name, given, sandbox))["error"]


class Bare:
    """A machine that gives no process."""

    def open(self, library):
        return self

    async def run(self, cell):
        raise SandboxError("no memory")

    def close(self):
        return None


async def test_a_machine_without_processes_gives_no_verdict():
    with pytest.raises(ModelError, match="no process for the code: no memory"):
        await verdict_on(RIGHT, SPEC, Bare())


CLOSE = [
    (80.3, 80, True), (81, 80, False), (66.6667, 66.67, True), (1.24, 1.2, True), (1.26, 1.2, False), ("a ", "a", True),
    ([1, 2.001], [1, 2], True), ([1], [1, 2], False), ({"a": 1.001}, {"a": 1}, True), ({"b": 1}, {"a": 1}, False),
    (5.6e-17, 0, True), (True, 1, False), (True, True, True), ([10**400], [1.0], False), (0.0, 0, True),
]  # fmt: skip


@each_row("found, expected, close", CLOSE)
def test_an_output_is_the_expected_one_to_half_a_percent_or_to_the_digits_written(found, expected, close):
    assert is_close(found, expected) is close


def test_a_verdict_passes_when_nothing_is_wrong():
    assert Verdict().passed and not Verdict("wrong").passed
