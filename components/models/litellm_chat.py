"""The litellm path: every provider that does not speak chat completions itself. The only importer of litellm.

Source: litellm 1.106.2 (the flags below were measured on it; ``_skip_mcp_handler`` is private, hence the pin).
"""

import logging
import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, Literal
from weakref import WeakSet

import orjson

from components.core.errors import CUT_OFF
from components.core.messages import Completion, Request
from components.models.prices import Price
from components.models.replies import Complaint, Fault, from_complaint, read_reply

# A finish that litellm permits and does not use where it has a native one.
_LENGTH: Literal["finish_reason_unspecified"] = "finish_reason_unspecified"

# litellm keeps its connections for the whole process, so the last one that leaves closes them.
_OPEN: "WeakSet[LitellmChat]" = WeakSet()


@dataclass(eq=False)
class LitellmChat:
    """Sends requests through ``litellm.acompletion``. ``model`` is litellm's model string with its prefix. ``seeded``:
    send the request's seed to providers that take one. ``longest_reply``: characters of what litellm read."""

    model: str
    api_base: str | None = None
    key: str = field(default="", repr=False)
    price: Price | None = None
    timeout_seconds: float = 120.0
    seeded: bool = True
    connections: int | None = None
    longest_reply: int = 8 << 20

    async def call(self, request: Request) -> Completion:
        """One attempt. Raises Fault."""
        litellm = self._litellm
        _OPEN.add(self)
        try:
            response = await litellm.acompletion(**self._fixed, **self.arguments(request))
        except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
            raise fault_of(error) from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:  # litellm's own, of a reply it trips over
            raise Fault("unreadable", f"litellm could not read the reply: {type(error).__name__}") from None
        reply = reply_of(response)
        if len(str(reply)) > self.longest_reply:
            raise Fault("too_large", f"the reply is larger than {self.longest_reply >> 20} MB")
        return read_reply(reply, self.price)

    def arguments(self, request: Request) -> dict[str, Any]:
        """What differs from call to call."""
        arguments: dict[str, Any] = orjson.loads(request.sampling.wire)
        arguments["messages"] = [orjson.loads(message.sent) for message in request.messages]
        if request.tools:
            arguments["tools"] = [orjson.loads(tool.wire) for tool in request.tools]
        if self._seeds:
            arguments.setdefault("seed", request.seed)
        return arguments

    async def close(self) -> None:
        """Close litellm's connections unless another model of this process still uses them."""
        used = self in _OPEN
        _OPEN.discard(self)
        if used and not _OPEN:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()  # or it would hand closed clients out again

    @cached_property
    def _litellm(self) -> ModuleType:
        """The library: no download of its price table, no ``.env`` read, nothing printed."""
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_MODE"] = "PRODUCTION"
        import litellm
        from litellm.litellm_core_utils import core_helpers

        core_helpers._FINISH_REASON_MAP[CUT_OFF] = _LENGTH  # else a reply that Anthropic cuts off would be whole
        # Pydantic quotes replies in its warnings, including what a server echoes.
        warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
        litellm.suppress_debug_info = True
        return litellm

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        """What is the same for every call; retries and the timeout of a whole call are ours."""
        fixed = {"model": self.model, "timeout": self.timeout_seconds, "_skip_mcp_handler": True}
        fixed |= {"max_retries": 0, "num_retries": 0}
        if self.api_base:
            fixed["api_base"] = self.api_base
        if self.key:
            fixed["api_key"] = self.key
        elif not self.api_base:  # or litellm would call a provider without the key that it requires
            missing = self._litellm.validate_environment(self.model)["missing_keys"]
            if missing and all(name.endswith("_API_KEY") for name in missing):
                raise Fault("auth", f"the environment variable {' or '.join(missing)} is not set")
        return fixed

    @cached_property
    def _seeds(self) -> bool:
        supported = self._litellm.get_supported_openai_params(model=self.model) if self.seeded else ()
        return supported is None or "seed" in supported


def reply_of(response: Any) -> dict[str, Any]:
    """The response in the form the endpoint would have sent, with the fields that litellm moved restored."""
    choices = []
    for choice in response.choices[:1]:
        message, kept = choice.message, getattr(choice.message, "provider_specific_fields", None) or {}
        calls = [_plain(call) for call in message.tool_calls or ()]
        body = {"content": message.content, "refusal": kept.get("refusal"), "tool_calls": calls}
        if (reasoning := getattr(message, "reasoning_content", None)) is not None:
            body["reasoning_content"] = reasoning
        native = (getattr(choice, "provider_specific_fields", None) or {}).get("native_finish_reason")
        # litellm calls every unknown reason "stop": the provider's own word is more precise.
        unknown = {"stop": native or "stop", _LENGTH: native or CUT_OFF}
        finish = unknown.get(choice.finish_reason, choice.finish_reason)
        logprobs = getattr(choice, "logprobs", None)
        choices.append({"message": body, "finish_reason": finish, "logprobs": logprobs and _plain(logprobs)})
    usage = getattr(response, "usage", None)
    reported = {name: getattr(response, name, None) for name in ("model", "system_fingerprint")}
    return {"choices": choices, "usage": usage and _plain(usage), **reported}


def _plain(part: Any) -> Any:
    return part if isinstance(part, dict) else part.model_dump()


def fault_of(error: Any) -> Fault:
    """Classify by status code: litellm's classes differ between providers for the same status."""
    found = str(getattr(error, "status_code", None))  # some classes put the body's own code there
    status = int(found) if found.isdecimal() else 500
    text = str(getattr(error, "message", "") or "")
    name, code = type(error).__name__, getattr(error, "code", None)
    if status < 400:
        return Fault("unreadable", f"litellm {name}: the reply could not be read", text)
    if status == 408:
        return Fault("timeout", f"litellm {name}", text)
    if name == "ContextWindowExceededError":
        code = "context_length_exceeded"
    headers = getattr(error, "litellm_response_headers", None) or {}
    fault = from_complaint(status, Complaint(str(code or ""), text), headers, text)
    return Fault(fault.kind, f"litellm {name}, {fault}", fault.detail, fault.retry_after)
