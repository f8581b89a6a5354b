"""Sessions, the interface for users of a sandbox."""

import asyncio

import pytest

from components.sandbox import Library
from components.sandbox import running_slots as slots

LIBRARY = Library("components.sandbox.probe", {})


async def test_cells_of_one_session_run_one_after_the_other(sandbox):
    opened = sandbox.open(LIBRARY, keep=True)
    rans = await asyncio.gather(
        *(opened.run(f"found = [*globals().get('found', []), {n}]\nanswer = found") for n in range(5))
    )
    assert [ran.answer for ran in rans][-1] == "[0, 1, 2, 3, 4]"
    opened.close()


async def test_cancelling_a_cell_ends_its_worker(sandbox):
    opened = sandbox.open(LIBRARY)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await opened.run("import time\ntime.sleep(20)")
    assert (await opened.run("answer = 3")).answer == "3"
    opened.close()


async def test_turns_are_shared_on_a_loop():
    assert slots(2) is slots(2) and slots(2) is not slots(3)
