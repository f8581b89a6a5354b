"""The soak finds what it looks for, and a small one holds."""

import json
from collections import Counter

from benchmarks.soak import Memory, Watching, judge, soak
from components.models.simulated import Simulated
from tests.slow import slow
from tests.table import each_row


@slow
async def test_run_with_faults_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path):
    assert await soak(tmp_path, samples=150, connections=50, share=0.1, kill_seconds=5.0) == []


@slow
async def test_5000_samples_at_300_connections_with_a_tenth_of_faults(tmp_path):
    """Three to five minutes: ``WARDROUND_TEST_SLOW=1 python -m pytest tests/benchmarks/test_soak.py -k 5000``."""
    broken = await soak(tmp_path, samples=5_000, connections=300, share=0.1, kill_seconds=60.0)
    assert [line for line in broken if not line.startswith("memory")] == [], "memory is what the long soak looks at"


@each_row("ids, paid_again, sizes, broken", [
    (["a", "b"], 0, [100.0, 105.0, 108.0, 109.0], ()),
    (["a"], 0, [100.0], ("1 records are lost",)),
    (["a", "b", "b"], 0, [], ("1 records are duplicated",)),
    (["a", "b"], 3, [], ("3 finished calls were paid again",)),
    (["a", "b"], 0, [100.0, 105.0, 108.0, 111.0], ("memory grew by a factor of 1.11",)),
])  # fmt: skip
def test_broken_promises_are_named(tmp_path, ids, paid_again, sizes, broken):
    (tmp_path / "records.jsonl").write_text("".join(json.dumps({"sample_id": id}) + "\n" for id in ids))
    server = Watching(Simulated(), seen=Counter(requests=9), paid_again=paid_again)
    assert judge(server, tmp_path, 2, Memory(sizes), kills=1) == list(broken)
