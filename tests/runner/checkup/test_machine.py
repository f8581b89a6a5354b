"""Libraries, machine, sandbox and extras are told."""

import tomllib
from pathlib import Path

from runner.checkup import machine
from tests.runner.checkup.lines import line

ROOT = Path(__file__).resolve().parents[3]


def test_libraries_machine_and_extras_are_told():
    assert line(machine.python(), "orjson").mark == "ok"
    assert {one.name for one in machine.machine()} == {"disk", "memory", "processors"}
    assert line(machine.extras(), "optuna").hint in ("", "for sweeps that search: pip install 'wardround[optuna]'")
    assert machine.sandbox()[0].name == "tier"


def test_every_extra_is_one_of_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {one.name for one in machine.extras()} == extras.keys() - {"test", "dev", "docs"}
