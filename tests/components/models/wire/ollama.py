"""Ollama's OpenAI-compatible server.

Sources: https://github.com/ollama/ollama, openai/openai.go (``ChatCompletion``, ``Message``, ``ToolCall``,
``NewError``), middleware/openai.go (``writeError``) and server/sched.go (``ErrMaxQueue``);
https://docs.ollama.com/api/openai-compatibility. It reports no cached and no reasoning tokens, and its errors have no
code.
"""

from tests.components.models.wire.forms import Failed, Form, Seen, call, chat


def reply(message, finish="stop"):
    body = chat(message, finish, system_fingerprint="fp_ollama")
    del body["choices"][0]["logprobs"]
    return body


def error(text, kind):
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


CALL = call("measure", '{"site":"liver"}', "call_x1") | {"index": 0}
SEEN = (("call_x1", "measure", '{"site":"liver"}'),)
FORMS = {
    "text": Form(reply("Hello"), Seen()),
    "reasoning": Form(reply({"content": "Hello", "reasoning": "First."}), Seen(reasoning="First.")),
    "tool calls": Form(reply({"content": "", "tool_calls": [CALL]}, "tool_calls"), Seen("", None, SEEN, "tool_calls")),
    "tool calls after reasoning": Form(
        reply({"content": "", "reasoning": "First.", "tool_calls": [CALL]}, "tool_calls"),
        Seen("", "First.", SEEN, "tool_calls"),
    ),
    "length": Form(reply("Hel", "length"), Seen("Hel", finish="length")),
    "no finish": Form(reply("Hello", None), Seen()),
    "the model was only loaded": Form(reply("", "load"), Seen("", finish="load")),
    "unknown model": Form(error("model 'm' not found", "not_found_error"), Failed("bad_request"), 404),
    "unknown model, older": Form(
        error('model "m" not found, try pulling it first', "api_error"), Failed("bad_request"), 404
    ),
    "no tools": Form(
        error("registry.ollama.ai/library/m does not support tools", "invalid_request_error"), Failed("bad_request"), 400
    ),
    "wrong key": Form(error("unauthorized", "api_error"), Failed("auth"), 401),
    "overloaded": Form(
        error("server busy, please try again.  maximum pending requests exceeded", "api_error"),
        Failed("server", None, True), 503,
    ),
    "the model crashed": Form(
        error("llama runner process has terminated: exit status 2", "api_error"), Failed("server", None, True), 500
    ),
}  # fmt: skip
