"""Libraries, machine, sandbox and extras are told."""

from runner.checkup import machine
from tests.runner.checkup.lines import line


def test_libraries_machine_and_extras_are_told():
    assert line(machine.python(), "orjson").mark == "ok"
    assert {one.name for one in machine.machine()} == {"disk", "memory", "processors"}
    assert line(machine.extras(), "optuna").hint in ("", "for sweeps that search")
    assert machine.sandbox()[0].name == "tier"
