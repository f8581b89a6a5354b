"""The kernel's limits of a process."""

import json

from tests.components.sandbox.alone import run

CODE = """
import json, resource, sys
from components.sandbox import worker
from components.sandbox.api import Limits
worker.set_limits(Limits(cpu_seconds=1.5, file_bytes=1000), keep=sys.argv[1] == "keep")
names = ["AS", "FSIZE", "NOFILE", "CORE", "MEMLOCK", "CPU"]
print(json.dumps({name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}))
"""


def test_limits_are_set_for_good():
    expected = {"AS": 2 << 30, "FSIZE": 1000, "NOFILE": 64, "CORE": 0, "MEMLOCK": 0, "CPU": 4}
    assert json.loads(run(CODE, "cells")) == {name: [value] * 2 for name, value in expected.items()}
    assert json.loads(run(CODE, "keep"))["CPU"] != [4, 4]
