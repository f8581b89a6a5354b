"""The kernel's limits of a process."""

import json

from tests.components.sandbox.alone import run

CODE = """
import json, resource, sys
from components.sandbox import limiting
from components.sandbox.api import Limits
limiting.apply(Limits(cpu_seconds=1.5, file_bytes=1000), keep=sys.argv[1] == "keep")
names = ["AS", "FSIZE", "NOFILE", "CORE", "CPU"]
print(json.dumps({name: resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names}))
"""


def test_limits_are_set_for_good_and_cpu_per_process_only_where_it_has_one_cell():
    found = json.loads(run(CODE, "once"))
    assert found == {"AS": [2 << 30] * 2, "FSIZE": [1000] * 2, "NOFILE": [64] * 2, "CORE": [0, 0], "CPU": [3, 3]}
    assert json.loads(run(CODE, "keep"))["CPU"] != [3, 3]
