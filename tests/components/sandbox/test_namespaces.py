"""What a cell of the first tier finds around it."""

import json
import sys
from pathlib import Path

import pytest

from components.sandbox import Library, Sandbox, detect

LOOK = """
import json, os
answer = json.dumps({
    "root": sorted(os.listdir("/")), "pid": os.getppid(), "uid": os.getuid(), "dev": sorted(os.listdir("/dev")),
    "scratch": os.statvfs("/scratch").f_blocks * os.statvfs("/scratch").f_frsize,
    "readonly": bool(os.statvfs("/").f_flag & os.ST_RDONLY),
})
"""


async def test_the_root_holds_little_and_nothing_of_others():
    if reason := detect.tested("namespaces").reason:
        pytest.skip(reason)
    made = Sandbox(backend="namespaces")
    opened = made.open(Library("components.sandbox.probe", {}))
    found = json.loads((await opened.run(LOOK)).answer)
    own = Path(sys.prefix).resolve().parts[1]  # where the interpreter is
    assert {"etc", "proc", "sys", "home", "tmp", "var", "run"} & set(found["root"]) <= {own}
    assert found["pid"] == 1 and found["uid"] == 65534 and found["readonly"]
    assert found["dev"] == ["null", "random", "urandom", "zero"] and found["scratch"] == 64 << 20
    made.close()
