"""What a job reads of its own records: while samples run, and at the end."""

import asyncio
import time
from types import SimpleNamespace

from components.core.types import Score, Trajectory
from runner.job import run
from runner.results.metrics import metrics
from runner.storage.records import RecordWriter, read, record_of
from tests.runner.results.folders import sample, step


def job_in(folder, samples, kind=run._Job):
    writer = RecordWriter(folder)
    return kind(SimpleNamespace(episodes=[(one, 0) for one in samples]), folder, None, None, writer, {}, None)


def test_a_watch_reads_each_record_once_and_sees_all(tmp_path, monkeypatch):
    samples, parsed = [sample(n, f"task {n % 2}", "one") for n in range(12)], []
    monkeypatch.setattr(run, "read", lambda *of, **how: (parsed.append(one) or one for one in read(*of, **how)))
    job = job_in(tmp_path, samples[:-1])
    for n, one in enumerate(samples):
        trajectory = Trajectory([step(answer="A")], stop="answered")
        scores = [Score("score/x", n % 3), *([Score("score/late", n)] if n > 6 else [])]
        job.writer.append(record_of(one, 0, trajectory, scores, 0.1, job.writer.packer))
        if n % 4 == 3:
            table = job.table_so_far()
    job.writer.close()
    assert len(parsed) == 12
    whole = job.table()
    assert (len(table), table.keys, table.by_text.keys) == (11, whole.keys, whole.by_text.keys)
    assert metrics(table, {}) == metrics(whole, {})


async def test_other_jobs_run_on_while_records_are_read(tmp_path):
    class Slow(run._Job):
        def _summarise(self, status):
            time.sleep(0.3)
            return status, {}

        def finish(self, status, found=None):
            return found

    job, waits = job_in(tmp_path, [], Slow), []
    end = asyncio.create_task(job.finish_in_thread("complete"))
    while not end.done():
        begun = time.perf_counter()
        await asyncio.sleep(0.001)
        waits.append(time.perf_counter() - begun)
    job.writer.close()
    assert await end == ("complete", {}) and max(waits) < 0.25
