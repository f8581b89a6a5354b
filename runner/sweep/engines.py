"""How launchers take jobs to other processes: joblib and submitit by their Hydra plugins, Ray by our own."""

import importlib.util
import os
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from annotated_types import Gt
from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext
from omegaconf import DictConfig

from components.core.errors import ConfigError
from components.core.redaction import redact
from runner.config.build import check
from runner.storage import manifest
from runner.storage.resume import config_text
from runner.sweep.remote_job import Ends, Engine, JobResult, ProcessDied, RemoteJob, run_remote_job

_TOGETHER = 2  # deaths after which jobs are run one by one


def by_joblib(settings: Mapping[str, Any], queue: deque[RemoteJob]) -> Ends:
    """In processes of this machine, by the settings of joblib.Parallel. When a process dies joblib ends all that run;
    after two deaths jobs run one after the other."""
    from joblib import Parallel, delayed

    settings = {**settings, "backend": "loky", "batch_size": 1, "return_as": "generator_unordered"}
    deaths = 0
    while queue:
        batch = [queue.popleft() for _ in range(len(queue) if deaths < _TOGETHER else 1)]
        left = {order.label: order for order in batch}
        try:
            for label, ended in Parallel(**settings)(delayed(_run_labelled)(order) for order in batch):
                yield left.pop(label), ended
        except BrokenProcessPool:
            deaths += 1
            running = [o for o in left.values() if manifest.read(o.folder).get("status") == "running"]
            died = ProcessDied("a process of joblib died, which ended the others too")
            for order in running or list(left.values()):
                yield left.pop(order.label), died
            queue.extendleft(reversed(left.values()))


def _run_labelled(order: RemoteJob) -> tuple[str, JobResult]:
    return order.label, run_remote_job(order)


_EVERY_SECONDS = 0.2
_LOOK_SECONDS = 61.0  # NFS keeps entries of directories, where a result appears, for up to 60
_SQUEUE_SECONDS = 30.0
_COMMON = frozenset(
    ("timeout_min", "cpus_per_task", "gpus_per_node", "tasks_per_node", "mem_gb", "nodes", "name", "stderr_to_stdout")
)


class Restartable:
    """The callable for submitit: a job that resumes when it is preempted or out of time."""

    def __call__(self, order: RemoteJob) -> JobResult:
        """Run the job."""
        return run_remote_job(order)

    def checkpoint(self, order: RemoteJob) -> Any:
        """The same job again: its folder and the journal have the finished work."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self, order)


def by_submitit(cluster: Literal["local", "slurm"], settings: Mapping[str, Any], queue: deque[RemoteJob]) -> Ends:
    """The queue as one array, by the settings of the plugin. Raises ConfigError for what would run a job several times,
    or leave a secret on the disk."""
    for key in ("nodes", "tasks_per_node"):
        if (n := settings.get(key, 1)) != 1:
            raise ConfigError(f"hydra.launcher.{key}: found {n!r}, a job is one process: it should be 1")
    for order in queue:
        if yaml.safe_load(config_text(order.cfg)) != yaml.safe_load(yaml.safe_dump(dict(order.cfg))):
            raise ConfigError(
                f"job {order.label}: submitit writes configs to the disk, and this one holds a secret; "
                "name its environment variable in its place (model.api_key_env)"
            )
    executor, lost, first = _executor(cluster, settings), _Lost(cluster), True
    running: dict[str, tuple[Any, RemoteJob]] = {}
    try:
        while queue or running:
            orders = [queue.popleft() for _ in range(len(queue))]
            sent = _send(executor, orders)
            if isinstance(sent, str) and first:
                raise ConfigError(f"hydra/launcher=submitit_{cluster}: {sent}")
            first = False
            if isinstance(sent, str):
                yield from [(order, ProcessDied(sent)) for order in orders]
                continue
            running |= {order.label: (job, order) for job, order in zip(sent, orders, strict=True)}
            gone = lost.among([job for job, _ in running.values()])
            done = [label for label, (job, _) in running.items() if job.done() or job.job_id in gone]
            for job, order in [running.pop(label) for label in done]:
                yield order, _end_of(job)
            if not (queue or done):
                time.sleep(_EVERY_SECONDS)
    finally:
        for job, _ in running.values():
            job.cancel(check=False)


def _send(executor: Any, orders: Sequence[RemoteJob]) -> Sequence[Any] | str:
    """The jobs of an array, or why Slurm refuses them."""
    from submitit.core.utils import FailedJobError

    try:
        return executor.map_array(Restartable(), orders) if orders else []
    except FailedJobError as error:
        return " ".join(str(error).split())


def _end_of(job: Any) -> JobResult | ProcessDied:
    """How a job ended that is done, or was lost."""
    from submitit.core.utils import FailedJobError, UncompletedJobError

    last = ""
    with suppress(UncompletedJobError):
        try:
            if job.done():
                return job.result()  # type: ignore[no-any-return]  # no types
        except FailedJobError as error:  # its trace ends before a line of dashes
            last = ": " + redact(str(error).rpartition("\n-----")[0].strip().rpartition("\n")[2])
    return ProcessDied(f"its process died (job {job.job_id}, {str(job.state).lower()}){last}")


@dataclass
class _Lost:
    """Jobs that Slurm's queue has no more, where Slurm keeps no accounts that say how they ended (``sacct``)."""

    cluster: str
    next: float = 0.0
    missing: set[str] = field(default_factory=set)

    def among(self, jobs: Sequence[Any]) -> set[str]:
        """The ids of those that were missing twice, a minute apart: a result may reach the disk meanwhile."""
        if self.cluster != "slurm" or time.monotonic() < self.next:
            return set()
        self.next, before, self.missing = time.monotonic() + _LOOK_SECONDS, self.missing, set()
        if unknown := {job.job_id for job in jobs if job.state == "UNKNOWN"}:
            words = ("squeue", "--noheader", "--array", "--format=%i")
            with suppress(subprocess.TimeoutExpired):
                asked = subprocess.run(words, capture_output=True, text=True, check=False, timeout=_SQUEUE_SECONDS)
                self.missing = unknown - set(asked.stdout.split()) if asked.returncode == 0 else set()
        return before & self.missing


def _executor(cluster: str, settings: Mapping[str, Any]) -> Any:
    """Where jobs are sent, with what they request. Raises ConfigError."""
    from submitit import AutoExecutor

    folder = Path(str(settings["submitit_folder"]))
    first = Path(*(part for part in folder.parts if "%" not in part))
    first.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = {key: value for key, value in settings.items() if key not in ("submitit_folder", "max_num_timeout")}
    times = settings.get("max_num_timeout")
    limits = {} if times is None else {f"{cluster}_max_num_timeout": times}
    try:
        executor = AutoExecutor(folder=folder, cluster=cluster, **limits)
    except RuntimeError as error:  # it asks for Slurm's commands
        raise ConfigError(f"hydra/launcher=submitit_{cluster}: {error}") from None
    executor.update_parameters(**{k if k in _COMMON else f"{cluster}_{k}": v for k, v in own.items()})
    return executor


_CONNECT_SECONDS = 5.0
_INTERRUPT_SECONDS = 5.0  # for jobs that are interrupted


@dataclass(frozen=True)
class RaySettings:
    """``cpus``: processors that a job asks for, ``memory_gb`` likewise; ``address``: a cluster that runs, null: Ray is
    started here with as many processors as there are, or ``processors``."""

    cpus: Annotated[float, Gt(0)] = 1.0
    memory_gb: Annotated[float, Gt(0)] | None = None
    address: str | None = None
    processors: Annotated[int, Gt(0)] | None = None

    def __post_init__(self) -> None:
        if self.address is not None and self.processors is not None:
            raise ConfigError("processors: it is for a Ray started by this command, and address names another")


class Ray(Launcher):
    """Hydra's launcher; ``given``: the ``RaySettings``, checked when it is set up."""

    def __init__(self, **given: Any) -> None:
        self._given = given

    def setup(self, *, hydra_context: HydraContext, task_function: Any, config: DictConfig) -> None:
        """Remember what a job needs. Raises ConfigError, before any job is composed."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config
        if importlib.util.find_spec("ray") is None:
            raise ConfigError("hydra/launcher=ray: this launcher needs an extra: pip install 'wardround[ray]'")
        self.settings = check(RaySettings, self._given, "hydra.launcher")

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Jobs reach Ray from our sweeper, which checked them. Raises ConfigError."""
        raise ConfigError("hydra/launcher=ray needs hydra/sweeper=wardround")


def by_ray(settings: RaySettings, queue: deque[RemoteJob]) -> Ends:
    """As tasks of Ray, also what is added to the queue meanwhile."""
    ray = _start(settings)
    from ray.exceptions import RayError

    memory = None if settings.memory_gb is None else int(settings.memory_gb * 2**30)
    job = ray.remote(max_retries=0, num_cpus=settings.cpus, memory=memory)(run_remote_job)
    running: dict[Any, RemoteJob] = {}
    try:
        while queue or running:
            running |= {job.remote(order): order for order in [queue.popleft() for _ in range(len(queue))]}
            done, _ = ray.wait(list(running), num_returns=1)
            for one in done:
                order = running.pop(one)
                try:
                    yield order, ray.get(one)
                except RayError as error:
                    yield order, ProcessDied(f"its process died ({type(error).__name__})")
    finally:
        for one in running:
            ray.cancel(one)
        if running:
            ray.wait(list(running), num_returns=len(running), timeout=_INTERRUPT_SECONDS)
        ray.shutdown()


def _start(settings: RaySettings) -> Any:
    """The library, in touch with a cluster. Raises ConfigError where there is none at the address."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    import ray

    ours, address = signal.getsignal(signal.SIGTERM), settings.address or "local"
    host, colon, port = address.rpartition(":")
    try:
        if colon and port.isdigit() and "/" not in host:
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()  # Ray would try for minutes
        ray.init(include_dashboard=False, configure_logging=False, address=address, num_cpus=settings.processors)
    except OSError as error:
        raise ConfigError(f"hydra.launcher.address: there is no Ray at {address!r} ({error})") from None
    finally:
        signal.signal(signal.SIGTERM, ours)  # Ray's own would leave without printing how to resume
    return ray


_SUBMITIT = "hydra_plugins.hydra_submitit_launcher.submitit_launcher"
ENGINES: Mapping[str, Callable[[Any], Engine]] = {  # ``_target_`` of a launcher -> how it takes jobs elsewhere
    "hydra_plugins.hydra_joblib_launcher.joblib_launcher.JoblibLauncher": lambda one: partial(
        by_joblib, dict(one.joblib)
    ),
    f"{_SUBMITIT}.LocalLauncher": lambda one: partial(by_submitit, "local", dict(one.params)),
    f"{_SUBMITIT}.SlurmLauncher": lambda one: partial(by_submitit, "slurm", dict(one.params)),
    "hydra_plugins.wardround.Ray": lambda one: partial(by_ray, one.settings),
}


def engine_of(launcher: object) -> Engine | None:
    """How a launcher takes jobs to other processes; None for one that does not, or is left to itself."""
    make = ENGINES.get(f"{type(launcher).__module__}.{type(launcher).__qualname__}")
    return None if make is None else make(launcher)
