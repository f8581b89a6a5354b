"""Jobs on Ray, on this machine or a cluster: ``hydra/launcher=ray``. The published plugin is bound to an old Ray."""

import importlib.util
import os
import signal
import socket
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext
from omegaconf import DictConfig

from components.core.errors import ConfigError
from runner.sweep.elsewhere import Died, Ended, Order, play

_QUIET = (("RAY_USAGE_STATS_ENABLED", "0"), ("RAY_AUTH_MODE", "disabled"))
_PATIENCE_SECONDS = 5.0
_LAST_WORDS_SECONDS = 5.0  # for jobs that are interrupted


class Ray(Launcher):
    """``cpus``: processors that a job asks for, ``memory_gb`` likewise; ``address``: a cluster that runs, null: Ray is
    started here with as many processors as there are, or ``processors``."""

    def __init__(
        self,
        cpus: float = 1.0,
        memory_gb: float | None = None,
        address: str | None = None,
        processors: int | None = None,
    ) -> None:
        self.cpus, self.memory_gb, self.address, self.processors = cpus, memory_gb, address, processors

    def setup(self, *, hydra_context: HydraContext, task_function: Any, config: DictConfig) -> None:
        """Remember what a job needs. Raises ConfigError, before any job is composed."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config
        if importlib.util.find_spec("ray") is None:
            raise ConfigError("hydra/launcher=ray: this launcher needs an extra: pip install 'wardround[ray]'")
        for name in ("cpus", "memory_gb", "processors"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
                raise ConfigError(f"hydra.launcher.{name}: found {value!r}, it should be a number above 0")
        if self.address is not None and self.processors is not None:
            raise ConfigError("hydra.launcher.processors is for a Ray that is started here, and address names another")

    def engine(self) -> "RayEngine":
        """How it plays jobs."""
        memory = None if self.memory_gb is None else int(self.memory_gb * 2**30)
        started = {"address": self.address or "local", "num_cpus": self.processors}
        return RayEngine({"num_cpus": self.cpus, "memory": memory}, started)

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Jobs reach Ray from our sweeper, which checked them. Raises ConfigError."""
        raise ConfigError("hydra/launcher=ray goes with hydra/sweeper=wardround")


@dataclass(frozen=True)
class RayEngine:
    """``needs``: of a job, ``started``: how Ray is found or started, both in its words."""

    needs: Mapping[str, Any] = field(default_factory=lambda: {"num_cpus": 1})
    started: Mapping[str, Any] = field(default_factory=lambda: {"address": "local"})

    def play(self, queue: deque[Order]) -> Generator[tuple[Order, Ended | Died]]:
        """Send what stands in the queue, and what is put there meanwhile at once."""
        ray = _start(self.started)
        from ray.exceptions import RayError

        job = ray.remote(max_retries=0, **self.needs)(play)
        running: dict[Any, Order] = {}
        try:
            while queue or running:
                running |= {job.remote(order): order for order in [queue.popleft() for _ in range(len(queue))]}
                done, _ = ray.wait(list(running), num_returns=1)
                for one in done:
                    order = running.pop(one)
                    try:
                        yield order, ray.get(one)
                    except RayError as error:
                        yield order, Died(f"its process died ({type(error).__name__})")
        finally:
            for one in running:
                ray.cancel(one)
            if running:
                ray.wait(list(running), num_returns=len(running), timeout=_LAST_WORDS_SECONDS)
            ray.shutdown()


def _start(started: Mapping[str, Any]) -> Any:
    """The library, in touch with a cluster. Raises ConfigError where there is none at the address."""
    for name, value in _QUIET:
        os.environ.setdefault(name, value)
    import ray

    ours = signal.getsignal(signal.SIGTERM)
    host, colon, port = str(started["address"]).rpartition(":")
    try:
        if colon and port.isdigit() and "/" not in host:
            socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()  # Ray would try for minutes
        ray.init(include_dashboard=False, configure_logging=False, **started)
    except OSError as error:
        raise ConfigError(f"hydra.launcher.address: there is no Ray at {started['address']!r} ({error})") from None
    finally:
        signal.signal(signal.SIGTERM, ours)  # Ray's own would leave without a word of how to go on
    return ray
