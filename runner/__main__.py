"""The command: ``python -m runner`` and ``wardround``.

Exit codes: 0 complete, 1 too many errored samples, 2 config, 3 budget reached, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

_HOME = Path(__file__).resolve().parent.parent
if TYPE_CHECKING:
    from omegaconf import DictConfig

    from runner.commons import Commons
    from runner.experiment import Experiment
    from runner.places import Turn

BUDGET, INTERRUPTED = 3, 130
DECLINED = INTERRUPTED  # whoever was asked said no


@dataclass
class Task:
    """What Hydra runs. ``code`` is the exit code so far, ``resume`` what continues the run, ``swept`` the keys that a
    sweep varies, for launchers that compose its jobs anew."""

    code: int = 0
    resume: str = ""
    started: bool = False
    swept: tuple[str, ...] = ()

    def __call__(self, config: DictConfig) -> int:
        """Play one job: a single run, or one that a launcher of another kind took to another process."""
        from components.core.errors import ConfigError
        from runner.disk import Unwritable
        from runner.experiment import PREPARED, job
        from runner.flaws import complain
        from runner.interrupts import Interrupts
        from runner.resume import quoted

        self.started = True
        try:
            here = job(config, PREPARED.get(), self.swept)
            PREPARED.set(None)
            if here.experiment.cfg.get("stage") is None:  # a stage is gone on with by the same command
                self.resume = self.resume or f"run.resume={quoted(here.folder)}"
            with Interrupts():
                self.code = self.run(self.alone(here.experiment, here.folder))
            if self.code == DECLINED:
                self.resume = ""
        except ConfigError as error:
            complain(error)
            self.code = 2
        except Unwritable as error:
            _say(f"error: {error}; what is finished is kept{_continue(self)}")
            self.code = 1
        return self.code

    async def alone(self, experiment: Experiment, folder: Path) -> int:
        """Run an experiment that shares nothing. Returns its exit code."""
        from runner.budget import Spent
        from runner.commons import Commons

        spent = Spent()
        if experiment.cfg["run"]["preflight"] and experiment.launch.sweep is None:
            from runner.sweep.preflight import Job, cleared

            if not await cleared([Job(experiment.name, experiment, folder)], spent):
                return DECLINED
        async with Commons(experiment.budget, spent=spent) as commons:
            return await self.play(experiment, folder, commons)

    async def play(self, experiment: Experiment, folder: Path, commons: Commons, turn: Turn | None = None) -> int:
        """Run an experiment in a folder, as one of the jobs that have ``commons``. Returns its exit code."""
        from runner.experiment import study
        from runner.run import run_job, run_stage

        study(experiment)
        if experiment.cfg.get("stage") is not None:
            return await run_stage(experiment, commons)
        return await run_job(experiment, folder, commons, turn)

    def run(self, work: Coroutine[Any, Any, Any], ours: bool = True) -> Any:
        """Run a coroutine on the fastest loop there is; ``ours``: whether we have the terminal."""
        import asyncio
        from contextlib import nullcontext

        from runner.interrupts import Stopping

        async def told() -> Any:
            with Stopping() if ours else nullcontext():
                return await work

        try:
            import uvloop
        except ImportError:
            return asyncio.run(told())
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(told())


def main() -> int:
    """Run the command. Returns the exit code."""
    _order_path()
    from runner.words import by_group, flags_first

    groups = [path.name for path in (_HOME / "conf").iterdir()]
    sys.argv[1:] = words = by_group(flags_first(sys.argv[1:]), groups)
    if words == ["--version"]:
        from importlib.metadata import version

        print(f"wardround {version('wardround')}")  # noqa: T201
        return 0
    if "choices" in words and words[words.index("choices") - 1] in ("--info", "-i"):
        return _list_choices(words)
    from runner.interrupts import Interrupts, Signals

    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through every installed package
    task = Task()
    try:
        with Signals(), Interrupts():
            bundled = any(word.startswith("run.replay=") and word.rstrip("\"'").endswith(".zip") for word in words)
            return _replayed(task, words) if bundled else _guarded(task, words)
    except KeyboardInterrupt:
        _say(f"interrupted; what is finished is kept{_continue(task)}")
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _guarded(task: Task, words: list[str]) -> int:
    """Run Hydra; what it cannot read is told in one line."""
    import hydra
    import yaml
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from components.core.errors import ConfigError
    from runner.config.explain import explain, refuse_dashes
    from runner.config.haste import hasten
    from runner.config.legible import too_deep
    from runner.config.roots import CONF, users_folders
    from runner.flaws import Flaws, complain, unreachable
    from runner.interrupts import is_interrupt
    from runner.sweep.launcher import register
    from runner.terminal import left
    from runner.words import WITH_VALUE

    hasten()
    register()
    try:
        refuse_dashes(words, WITH_VALUE)
        hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")(task)()
        sys.stdout.flush()
    except ConfigError as error:
        if is_interrupt(error):
            raise
        complain(error)
        return 2
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
        if task.started or is_interrupt(error):
            raise
        complain(Flaws([explain(error, [w for w in words if "=" in w], [*users_folders(words), CONF])]))
        return 2
    except RecursionError:
        if task.started:
            raise
        complain(too_deep(words))
        return 2
    except OSError as error:
        if not task.started:
            if isinstance(error, BrokenPipeError):
                return left()
            complain(unreachable(error))
            return 2
        _say(f"error: {error}; what is finished is kept{_continue(task)}")
        return 1
    if task.code == BUDGET:
        _say(f"the budget is reached; what is finished is kept{_continue(task)}")
    return task.code


def _replayed(task: Task, words: list[str]) -> int:
    """Play a bundle again."""
    from components.core.errors import ConfigError
    from runner.bundle.again import replay
    from runner.flaws import complain

    try:
        return replay(words, task)
    except ConfigError as error:
        complain(error)
        return 2


def _list_choices(words: list[str]) -> int:
    """Print what can be chosen, of all groups or of those that are named."""
    from runner.config.choices import listing
    from runner.config.roots import CONF, users_folders
    from runner.terminal import told
    from runner.words import WITH_VALUE

    groups = [w for n, w in enumerate(words) if w[0] != "-" and words[n - 1] not in WITH_VALUE]
    return told(lambda: print(*listing([*users_folders(words), CONF], groups), sep="\n"))  # noqa: T201


def _order_path() -> None:
    """Look for ours first and in the current folder last: a user's own ``components/`` must not hide ours."""
    try:
        here = {"", os.getcwd()}
    except OSError as error:
        raise SystemExit(
            f"error: the current folder cannot be read ({error.strerror}); go into one that exists"
        ) from None
    others = [p for p in sys.path if p not in here]
    sys.path[:] = [*([] if str(_HOME) in others else [str(_HOME)]), *others, *here - {""}]


def _continue(task: Task) -> str:
    """The command that goes on, where there is something to go on with."""
    if not task.resume:
        return ""
    from runner.manifest import command_line

    return f"; continue with:\n  {command_line(task.resume)}"


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    from runner.__main__ import main as entry  # the module that others import: classes have one identity

    sys.exit(entry())
