"""The command: ``python -m runner`` and ``wardround``.

Exit codes: 0 complete, 1 too many errored samples, or with ``tracking.wait`` a run that MLflow did not get, 2 config,
3 budget reached, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

_HOME = Path(__file__).resolve().parent.parent
if TYPE_CHECKING:
    from runner.job.task import Task


def main() -> int:
    """Run the command. Returns the exit code."""
    gc.set_threshold(200_000, 20, 100)  # modules and configs are many objects, and stay
    _order_path()
    from runner.terminal import command

    command.open_missing_streams()
    groups = [path.name for path in (_HOME / "conf").iterdir()]
    sys.argv[1:] = words = command.by_group(command.flags_first(sys.argv[1:]), groups)
    if words == ["--version"]:
        from importlib.metadata import version

        print(f"wardround {version('wardround')}")  # noqa: T201
        return 0
    if "choices" in words and words[words.index("choices") - 1] in ("--info", "-i"):
        from runner.config.catalogue import catalogue_of, describe_choices

        named = [w for n, w in enumerate(words) if not w.startswith("-") and words[n - 1] not in command.WITH_VALUE]
        return command.exit_code_of(lambda: print(*describe_choices(catalogue_of(words, strict=True), named), sep="\n"))  # noqa: T201
    os.environ["HYDRA_FULL_ERROR"] = "1"
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it would look through every installed package
    from components.core.errors import ConfigError
    from runner.config.errors import complain
    from runner.job.exit_codes import CONFIG, INTERRUPTED
    from runner.job.task import Task

    task = Task()
    try:
        with command.signals(), command.interrupts():
            return _dispatch(task, words)
    except ConfigError as error:
        complain(error)
        return CONFIG
    except KeyboardInterrupt:
        command.print_note(f"interrupted; finished work is kept{task.continuing}")
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def _dispatch(task: Task, words: list[str]) -> int:
    """Replay a bundle, continue recorded episodes, or run Hydra."""
    bundled = any(word.startswith("run.replay=") and word.rstrip("\"'").endswith(".zip") for word in words)
    forked = any(word.startswith(("fork=", "fork.")) for word in words)
    if bundled:
        from runner.bundle.replay import replay

        code = replay(words, task.run)
    elif forked:
        from runner.fork.command import fork

        code = fork(words, task.run)
    else:
        code = _guarded(task, words)
    if bundled or forked or task.started:
        from runner import tracking

        not_sent = tracking.end()
        code = code or not_sent
    return code


def _guarded(task: Task, words: list[str]) -> int:
    """Run Hydra; what it cannot read is explained in one line."""
    import hydra
    import yaml
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from runner.config.catalogue import CONF, catalogue_of
    from runner.config.errors import ConfigErrors, unreachable
    from runner.config.explain import explain, invalid_choice, refuse_flags, refuse_misspelled, too_deep
    from runner.config.hydra_patches import apply_patches, before_sweeps
    from runner.job.exit_codes import BUDGET
    from runner.terminal.command import WITH_VALUE, describe_os_error, is_interrupt, print_note, reader_left

    apply_patches()
    before_sweeps(_register_plugins)
    if any(word.startswith(("--info", "-i")) for word in words):
        _register_plugins()
    try:
        refuse_misspelled(words, WITH_VALUE)
        refuse_flags(words)
        hydra.main(config_path=str(CONF), config_name="config", version_base="1.3")(task)()
        sys.stdout.flush()
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError) as error:
        if task.started or is_interrupt(error):
            raise
        finding = explain(error, [word for word in words if "=" in word], catalogue_of(words, strict=True))
        raise ConfigErrors([finding]) from None
    except TypeError:
        if (invalid := invalid_choice(words, catalogue_of(words))) is None:
            raise
        raise ConfigErrors([invalid]) from None
    except RecursionError:
        if task.started:
            raise
        raise too_deep(words) from None
    except OSError as error:
        if not task.started:
            if isinstance(error, BrokenPipeError):
                return reader_left()
            raise unreachable(error) from None
        print_note(f"error: {describe_os_error(error)}; finished work is kept{task.continuing}")
        return 1
    if task.code == BUDGET:
        print_note(f"the budget is reached; finished work is kept{task.continuing}")
    return task.code


def _register_plugins() -> None:
    from runner.sweep.plugins import register  # a single run needs none of them

    register()


def _order_path() -> None:
    """Look for ours first and in the current folder last: a user's own ``components/`` must not hide ours."""
    try:
        here = {"", os.getcwd()}
    except OSError as error:
        text = f"error: the current folder cannot be read ({error.strerror}); change to one that exists"
        raise SystemExit(text) from None
    others = [p for p in sys.path if p not in here]
    sys.path[:] = [*([] if str(_HOME) in others else [str(_HOME)]), *others, *here - {""}]


if __name__ == "__main__":
    from runner.__main__ import main as entry  # the module that others import: classes have one identity

    sys.exit(entry())
