"""Jobs of Slurm, or processes of this machine in its manner, by submitit; settings are those of its Hydra plugin."""

import time
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from components.core.errors import ConfigError
from runner.storage.resume import written
from runner.sweep.elsewhere import Died, Ended, Order, play

_EVERY_SECONDS = 0.2
_COMMON = frozenset(
    ("timeout_min", "cpus_per_task", "gpus_per_node", "tasks_per_node", "mem_gb", "nodes", "name", "stderr_to_stdout")
)


class Player:
    """What submitit runs: a job that is begun again where it stopped when it is preempted or out of time."""

    def __call__(self, order: Order) -> Ended:
        """Play the job; submitit leaves the process by itself when it has put the job into the queue again."""
        return play(order)

    def checkpoint(self, order: Order) -> Any:
        """The same job once more: its folder and the journal have what is finished."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, order)


@dataclass(frozen=True)
class Submitit:
    """``settings``: those of the plugin; the ones that Slurm alone knows have no prefix there.

    A job that dies otherwise is sent again by whoever watches.
    """

    cluster: Literal["local", "slurm"]
    settings: Mapping[str, Any]

    def play(self, queue: deque[Order]) -> Generator[tuple[Order, Ended | Died]]:
        """Send what stands in the queue as one array, and look after all of it."""
        from submitit.core.utils import FailedJobError, UncompletedJobError

        _check(self.settings, list(queue))
        executor = self._executor()
        running: dict[str, tuple[Any, Order]] = {}
        try:
            while queue or running:
                orders = [queue.popleft() for _ in range(len(queue))]
                sent = executor.map_array(Player(), orders) if orders else []
                running |= {order.label: (job, order) for job, order in zip(sent, orders, strict=True)}
                done = [label for label, (job, _) in running.items() if job.done()]
                for job, order in [running.pop(label) for label in done]:
                    try:
                        yield order, job.result()
                    except (FailedJobError, UncompletedJobError):
                        yield order, Died(f"its process died (job {job.job_id}, {str(job.state).lower()})")
                if not (queue or done):
                    time.sleep(_EVERY_SECONDS)
        finally:
            for job, _ in running.values():
                job.cancel(check=False)

    def _executor(self) -> Any:
        """Where jobs are sent, with what they ask for. Raises ConfigError."""
        from submitit import AutoExecutor

        folder = Path(str(self.settings["submitit_folder"]))
        first = Path(*(part for part in folder.parts if "%" not in part))
        first.mkdir(parents=True, exist_ok=True, mode=0o700)
        own = {key: value for key, value in self.settings.items() if key not in ("submitit_folder", "max_num_timeout")}
        times = self.settings.get("max_num_timeout")
        limits = {} if times is None else {f"{self.cluster}_max_num_timeout": times}
        try:
            executor = AutoExecutor(folder=folder, cluster=self.cluster, **limits)
        except RuntimeError as error:  # it asks for Slurm's commands
            raise ConfigError(f"hydra/launcher=submitit_{self.cluster}: {error}") from None
        executor.update_parameters(**{k if k in _COMMON else f"{self.cluster}_{k}": v for k, v in own.items()})
        return executor


def _check(settings: Mapping[str, Any], orders: Sequence[Order]) -> None:
    """Raises ConfigError for what would run a job several times, or leave a secret on the disk."""
    for key in ("nodes", "tasks_per_node"):
        if settings.get(key, 1) != 1:
            raise ConfigError(f"hydra.launcher.{key}: found {settings[key]!r}, a job is one process: it should be 1")
    for order in orders:
        if yaml.safe_load(written(order.cfg)) != yaml.safe_load(yaml.safe_dump(dict(order.cfg))):
            raise ConfigError(
                f"job {order.label}: submitit writes configs to the disk, and this one holds a secret; "
                "name its environment variable in its place (model.api_key_env)"
            )
