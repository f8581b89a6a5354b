"""vLLM's OpenAI-compatible server.

Sources: https://github.com/vllm-project/vllm, vllm/entrypoints/openai/chat_completion/protocol.py and
engine/protocol.py (``UsageInfo``, ``ErrorResponse``); https://docs.vllm.ai/en/stable/features/reasoning_outputs/
(``reasoning``, in older versions ``reasoning_content``); https://docs.vllm.ai/en/stable/features/tool_calling/;
serve/elastic_ep/middleware.py (503). A field without a value is null; older versions send the bare error object.
"""

from tests.components.models.wire.forms import Failed, Form, Seen, call, chat


def message(content="Hello", **fields):
    return {"content": content, "refusal": None, "annotations": None, "audio": None, "function_call": None,
            "reasoning": None, **fields}  # fmt: skip


def reply(message, finish="stop", stop_reason=None, **usage):
    body = chat(
        message, finish, {"prompt_tokens": 20, "total_tokens": 25, "completion_tokens": 5, "prompt_tokens_details": None} | usage,
        service_tier=None, system_fingerprint=None, prompt_logprobs=None, prompt_token_ids=None, kv_transfer_params=None,
    )  # fmt: skip
    body["choices"][0] |= {"stop_reason": stop_reason, "token_ids": None}
    return body


def error(text, kind, code):
    return {"error": {"message": text, "type": kind, "param": None, "code": code}}


CALLS = {"tool_calls": [call("measure", '{"site": "liver"}', "chatcmpl-tool-1f")]}
SEEN = (("chatcmpl-tool-1f", "measure", '{"site": "liver"}'),)
FORMS = {
    "text": Form(reply(message()), Seen()),
    "a stop token": Form(reply(message(), stop_reason=128009), Seen()),
    "a stop string": Form(reply(message(), stop_reason="END"), Seen()),
    "cached tokens": Form(reply(message(), prompt_tokens_details={"cached_tokens": 16}), Seen(usage=(20, 5, 16, None))),
    "reasoning tokens": Form(
        reply(message(reasoning="First."), prompt_tokens_details={"cached_tokens": 0},
              completion_tokens_details={"reasoning_tokens": 3}),
        Seen(reasoning="First.", usage=(20, 5, 0, 3)),
    ),
    "both names": Form(
        reply(message(reasoning="First.", reasoning_content=None)), Seen(reasoning="First.")
    ),
    "reasoning, older": Form(reply({"content": "Hello", "reasoning_content": "First."}), Seen(reasoning="First.")),
    "reasoning without end": Form(
        reply(message(None, reasoning="First."), "length"), Seen("", "First.", finish="length")
    ),
    "no reasoning parser": Form(reply(message("<think>First.</think>Hello")), Seen(reasoning="First.")),
    "tool calls": Form(reply(message(None, **CALLS), "tool_calls"), Seen("", None, SEEN, "tool_calls")),
    "a named tool": Form(reply(message("", **CALLS)), Seen("", None, SEEN, "tool_calls")),
    "tool calls after reasoning": Form(
        reply(message("I look.", reasoning="First.", **CALLS), "tool_calls"), Seen("I look.", "First.", SEEN, "tool_calls")
    ),
    "length": Form(reply(message("Hel"), "length"), Seen("Hel", finish="length")),
    "repetition": Form(reply(message("ha ha ha"), "repetition"), Seen("ha ha ha", finish="repetition")),
    "aborted": Form(reply(message("Hel"), "abort"), Failed("server", None, True)),
    "failed while writing": Form(reply(message("Hel"), "error"), Failed("server", None, True)),
    "wrong key": Form({"error": "Unauthorized"}, Failed("auth"), 401),
    "unknown model": Form(error("The model `m` does not exist.", "NotFoundError", 404), Failed("bad_request"), 404),
    "unknown model, older": Form(
        {"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "param": None, "code": 404},
        Failed("bad_request"), 404,
    ),
    "no tool parser": Form(
        error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', "BadRequestError", 400),
        Failed("bad_request"), 400,
    ),
    "server error": Form(error("Internal server error", "InternalServerError", 500), Failed("server", None, True), 500),
    "scaling": Form(
        {"error": "The model is currently scaling. Please try again later."}, Failed("server", None, True), 503
    ),
}  # fmt: skip
