"""From a forked process to a supervisor: what it cannot set up is told, not hidden."""

import pytest

from components.sandbox import Library, SandboxError
from components.sandbox.confining import Episode

ASKED = {
    "module": "m",
    "arguments": {},
    "readable": ["/a"],
    "rehearsal": "",
    "limits": {"wall_seconds": 1.0},
    "keep": True,
    "folder": "/f",
}


def test_a_request_is_read():
    episode = Episode.read(ASKED, "landlock")
    assert (episode.limits.wall_seconds, episode.readable, episode.keep, episode.folder) == (1.0, ("/a",), True, "/f")


async def test_a_library_that_fails_is_the_machines_fault(held):
    opened = held.open(Library("components.sandbox.probe", {"no_such": 1}))
    with pytest.raises(SandboxError, match=r"cannot be set up: TypeError: .*unexpected keyword argument 'no_such'"):
        await opened.run("answer = 1")
    opened.close()
