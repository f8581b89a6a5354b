"""A sweep on the simulated core, whose identity includes its answer key, is resumed in its folder."""

import json

import pytest

from tests.acceptance.command import run_in_process
from tests.slow import slow

pytestmark = slow

WORDS = ("-m", "agent=direct,cot", "dataset=cab_mini", "toolset=none", "condition=intact", "tracking=off",
         "hydra.sweep.dir=sweep")  # fmt: skip


@pytest.mark.parametrize("more", [(), ("run.shards=2",)])
def test_stopped_sweep_is_finished_by_the_same_command(more, tmp_path):
    first = run_in_process(tmp_path, *WORDS, "limit=4", *more, "budget.run.calls=3", own=False)
    assert first.code == 3, first.err
    again = run_in_process(tmp_path, *WORDS, "limit=4", *more, own=False)
    assert again.code == 0, again.err
    counts = [json.loads(path.read_text())["counts"] for path in sorted(tmp_path.glob("sweep/*/manifest.json"))]
    assert counts == [{"finished": 4, "wanted": 4, "errored": 0}] * 2
