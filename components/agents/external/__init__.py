"""An agent from outside: a program, or an HTTP service, that gets the problem and gives its outcome.

The model and the tools that it uses are the episode's (``endpoint``). docs/guides/external-agents.md describes the JSON
that it gets and what it may answer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge, Gt

from components import programs
from components.acting.attempt import blind
from components.agents.external.program import Outcome, outcome_in, post, problem_of, run_program
from components.core.errors import ConfigError, LimitReached, ModelError, missing_extra
from components.core.protocols import Episode
from components.core.traits import PromptSetName, Requirements
from components.core.types import Failure, Privacy
from components.web import address

if TYPE_CHECKING:
    from components.agents.external.endpoint import EpisodeServer


@dataclass(frozen=True)
class External:
    """Runs ``command``, or posts to ``url``: one of them. ``env``: names of the variables of this process that the
    program gets, next to those that this module sets; ``timeout_seconds``: after which it is killed;
    ``grace_seconds``: that it has to end after an error that ends the episode; ``max_requests``: of the model and of
    tools in an episode. ``permits``: data classes, in addition to open ones, that it may receive. ``prompts``: the set
    whose template ``problem`` writes the problem as one text."""

    takes_code: ClassVar[Sequence[str]] = ("command", "url")
    command: Sequence[str] | None = None
    url: str | None = None
    env: Sequence[str] = ()
    timeout_seconds: Annotated[float, Gt(0)] = 600.0
    grace_seconds: Annotated[float, Gt(0)] = 1.0
    max_requests: Annotated[int, Ge(1)] = 2000
    permits: Sequence[Privacy] = ()
    prompts: PromptSetName = "react"

    def __post_init__(self) -> None:
        if missing := missing_extra("it", "mcp", "mcp"):
            raise ConfigError(missing)
        if bool(self.command) == bool(self.url):
            how = "agent.command=[python,agent.py] or agent.url=http://127.0.0.1:9000/solve"
            raise ConfigError(f"name either a command or a url, found {self.command!r} and {self.url!r}: {how}")
        if name := programs.absent(self.env):
            raise ConfigError(f"env: {name} is not set; set the variable, or leave it out")
        if self.command:
            programs.check(self.command, "command")
        else:
            address(str(self.url), "url")

    @property
    def requirements(self) -> Requirements:
        """What it does outside of the episode cannot be continued from the middle."""
        why = "a program of its own decides what is asked"
        return Requirements(unrecorded=why, permits=self.permits, functions=True, fits="agent.grammar=native_tools")

    async def solve(self, episode: Episode) -> Outcome:
        """What the program gives. Raises ModelError (program) for one that crashes, hangs or gives nothing that can be
        read, and whatever ended the episode."""
        from components.agents.external.endpoint import EpisodeServer

        if blind(episode):
            return Failure("unsupported_input", "the model takes no images")
        server = EpisodeServer(episode, self.max_requests)
        async with server.listening():  # whose group of tasks would wrap what is raised in it
            try:
                found = await episode.within(self._watch(episode, server))
            except LimitReached as error:
                found = error
        if isinstance(found, BaseException):
            raise found
        return found

    async def _watch(self, episode: Episode, server: "EpisodeServer") -> Outcome | BaseException:
        """What comes of the program, or the error that ends the episode before."""
        work = asyncio.create_task(self._run(episode, server))
        watched: set[asyncio.Future[Any]] = {work, server.ended}
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if server.ended.done():
                await asyncio.wait({work}, timeout=self.grace_seconds)
                return server.ended.result()
            if (error := work.exception()) is None:
                return work.result()
            return server.overflow if server.overflow and isinstance(error, ModelError) else error
        finally:
            work.cancel()
            await asyncio.wait({work})

    async def _run(self, episode: Episode, server: "EpisodeServer") -> Outcome:
        """Have the program solve the problem."""
        base_url, mcp_url, token, model = f"{server.url}/v1", f"{server.url}/mcp", server.token, episode.model_name
        given = {
            "problem": problem_of(episode, self.prompts),
            "model": {"name": model, "base_url": base_url, "api_key": token},
            "mcp": {"url": mcp_url, "token": token},
        }
        env = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": token, "OPENAI_MODEL": model,
               "MCP_URL": mcp_url, "MCP_TOKEN": token}  # fmt: skip
        command = self.command or ()
        name, seconds = self.url or command[-1], self.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                work = post(self.url, given, seconds) if self.url else run_program(command, self.env, env, given)
                raw = await work
        except TimeoutError:
            text = f"{name!r} gave no outcome within {seconds:g} s (agent.timeout_seconds)"
            raise ModelError(text, "program") from None
        return outcome_in(raw, name, episode.offer)
