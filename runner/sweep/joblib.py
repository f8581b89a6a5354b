"""Jobs in processes of this machine, by joblib; settings are those of the Hydra plugin."""

from collections import deque
from collections.abc import Generator, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from runner.storage import manifest
from runner.sweep.elsewhere import Died, Ended, Order, play

_TOGETHER = 2  # deaths after which jobs are played one by one


@dataclass(frozen=True)
class Joblib:
    """``settings``: those of joblib.Parallel.

    When a process dies joblib ends all that run. After two deaths jobs run one after the other, so that the one that
    kills its process takes no other with it.
    """

    settings: Mapping[str, Any]

    def play(self, queue: deque[Order]) -> Generator[tuple[Order, Ended | Died]]:
        """Batch after batch: all, then what was begun again."""
        from joblib import Parallel, delayed

        settings = {**self.settings, "backend": "loky", "batch_size": 1, "return_as": "generator_unordered"}
        deaths = 0
        while queue:
            batch = [queue.popleft() for _ in range(len(queue) if deaths < _TOGETHER else 1)]
            left = {order.label: order for order in batch}
            try:
                for label, ended in Parallel(**settings)(delayed(_play)(order) for order in batch):
                    yield left.pop(label), ended
            except BrokenProcessPool:
                deaths += 1
                running = [o for o in left.values() if manifest.read(o.folder).get("status") == "running"]
                for order in running or list(left.values()):
                    yield left.pop(order.label), Died("a process of joblib died, and what ran beside it ended too")
                queue.extendleft(reversed(left.values()))


def _play(order: Order) -> tuple[str, Ended]:
    return order.label, play(order)
