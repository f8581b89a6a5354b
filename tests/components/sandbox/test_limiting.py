"""The kernel's limits of a process."""

import json

from tests.components.sandbox.alone import run

CODE = """
import json, resource
from components.sandbox import limiting
from components.sandbox.api import Limits
limiting.apply(Limits(cpu_seconds=1.5, file_bytes=1000))
names = ["AS", "FSIZE", "NOFILE", "CORE", "MEMLOCK"]
print(json.dumps({name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}))
"""


def test_limits_are_set_for_good():
    expected = {"AS": 2 << 30, "FSIZE": 1000, "NOFILE": 64, "CORE": 0, "MEMLOCK": 0}
    assert json.loads(run(CODE)) == {name: [value] * 2 for name, value in expected.items()}
