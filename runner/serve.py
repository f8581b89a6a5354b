"""The simulated model as an HTTP endpoint: ``python -m runner.serve dataset=cab_mini --port 8000 --status-429 0.1``.

Words choose as in a run: ``dataset=...`` is the answer key, ``model=simulated/weak model.competence=0.5`` the rates.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from components.core.protocols import Dataset
from components.models.simulated import Simulated
from components.models.simulated.serve import Faults, Server
from runner.config.build import construct, part
from runner.config.catalogue import CONF, Catalogue
from runner.config.composed import resolve
from runner.config.errors import ConfigErrors, Finding
from runner.config.explain import explain
from runner.terminal.command import Parser, exit_code_of


def from_arguments(words: Sequence[str]) -> tuple[Server, str, int]:
    """The server that a command line asks for, with host and port. Raises ConfigError."""
    parser = Parser(
        prog="python -m runner.serve",
        description="The simulated model as an OpenAI-compatible endpoint. Shares are in [0, 1], times in seconds.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    choice = "choices as in a run: dataset=NAME dataset.path=DIR model=simulated/weak model.competence=0.5"
    parser.add_argument("choices", nargs="*", metavar="KEY=VALUE", help=choice)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=_port, default=8000, help="port; 0 picks a free one")
    names = "a name that requests may use, once for each; default: the model's own"
    parser.add_argument("--served-model-name", action="append", default=[], metavar="NAME", help=names)
    parser.add_argument("--latency", type=float, default=0.0, help="time of every good reply")
    for name in ("status-429", "status-500", "resets", "stalls", "malformed"):
        parser.add_argument(f"--{name}", type=_share, default=0.0, help="share of requests")
    parser.add_argument("--context-tokens", type=int, help="the model's window; longer prompts are refused")
    parser.add_argument("--retry-after", type=float, default=0.1, help="header of a 429")
    parser.add_argument("--stall-seconds", type=float, default=600.0, help="length of a stall")
    parser.add_argument("--seed", type=int, default=0, help="of the faults, and of the simulated model")
    given = parser.parse_intermixed_args(words)
    faults = Faults(**{one.name: vars(given)[one.name] for one in fields(Faults)})
    model = model_of([*given.choices, *([f"model.seed={given.seed}"] if given.seed else [])])
    server = Server(model, faults, given.latency, given.context_tokens, given.served_model_name)
    return server, given.host, given.port


def _port(text: str) -> int:
    if not 0 <= (port := int(text)) <= 65535:
        raise argparse.ArgumentTypeError(f"found {text}, should be between 0 and 65535")
    return port


def _share(text: str) -> float:
    if not 0 <= (share := float(text)) <= 1:
        raise argparse.ArgumentTypeError(f"found {text}, should be between 0 and 1")
    return share


def model_of(choices: Sequence[str]) -> Simulated:
    """The simulated model that these words choose, with their dataset as its answer key. Raises ConfigError."""
    try:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            cfg = resolve(compose("config", list(choices)))
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigErrors([explain(error, choices, Catalogue())]) from None
    model = construct(cfg["model"], "model")
    dataset = part(cfg["dataset"], "dataset", (), Dataset)  # type: ignore[type-abstract]
    if not isinstance(model, Simulated):
        raise ConfigErrors([Finding("model", "is not a simulated model; choose model=simulated or one below it")])
    model.study(dataset.load(dataset.split))
    return model


async def _serve(words: Sequence[str]) -> None:
    server, host, port = from_arguments(words)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    url = await server.start(host, port)
    print(f"serving the simulated model at {url}; stop with Ctrl-C", flush=True)  # noqa: T201
    await stopped.wait()
    await server.stop()


def main(words: Sequence[str] | None = None) -> int:
    """Serve until interrupted. Exit code 2 for a config error, or an address that cannot be had."""
    return exit_code_of(lambda: asyncio.run(_serve(sys.argv[1:] if words is None else words)))


if __name__ == "__main__":
    sys.exit(main())
