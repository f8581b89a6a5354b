"""Replies are matched to calls by content, never by order of arrival."""

import asyncio
from dataclasses import dataclass, field
from random import Random

import pytest

from components.models.simulated.serve import Server
from tests.acceptance.command import Served, endpoint, read_records, run_in_process
from tests.acceptance.own import Voice
from tests.slow import slow

pytestmark = slow


@dataclass
class Uneven(Server):
    """Replies take random times, so they arrive in any order."""

    longest: float = 0.0
    order: Random = field(default_factory=Random)
    arrived: list[bytes] = field(default_factory=list)

    async def _answer(self, chat, request):
        await asyncio.sleep(self.order.random() * self.longest)
        reply = await super()._answer(chat, request)
        self.arrived.append(reply.body)
        return reply


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The records and arrivals of: serial; at once, twice, in other orders; at once on one connection."""
    words = ("tracking=off", "dataset=cohort", "agent=panel", "dataset.n=16")
    kinds = {
        "serial": (0.0, "agent.at_once=false", "model.max_connections=1"),
        "first": (0.03, "agent.at_once=true", "model.max_connections=16"),
        "second": (0.03, "agent.at_once=true", "model.max_connections=5"),
    }
    found = {}
    for kind, (longest, *more) in kinds.items():
        with Served(Uneven(Voice(), longest=longest, order=Random(kind))) as served:
            done = run_in_process(tmp_path_factory.mktemp(kind), *words, *endpoint(served.url, *more))
        assert done.code == 0, done.err
        found[kind] = (read_records(done.folder), served.server)
    return found


@pytest.mark.parametrize("kind", ["first", "second"])
def test_concurrent_branches_write_the_same_records_as_a_serial_run(runs, kind):
    serial, concurrent = runs["serial"][0], runs[kind][0]
    assert len(serial) == 16
    for one, other in zip(serial, concurrent, strict=True):
        assert one == other


def test_replies_arrived_concurrently_and_in_different_orders(runs):
    assert runs["first"][1].arrived != runs["serial"][1].arrived
    assert runs["second"][1].seen["most_in_flight"] > 3
    assert runs["serial"][1].seen["most_in_flight"] == 1


def test_branches_and_repeated_questions_get_separate_draws(runs):
    for record in runs["first"][0]:
        replies = [(step["branch"], step["n"], step["reply"]["text"]) for step in record["steps"]]
        first = {branch: text for branch, n, text in replies if n == 0}
        third = {branch: text for branch, n, text in replies if n == 2}
        assert len(set(first.values())) == 4
        assert all(first[branch] != third[branch] for branch in third)
