"""Text Generation Inference's OpenAI-compatible server.

Sources: https://github.com/huggingface/text-generation-inference, router/src/lib.rs (``ChatCompletion``,
``OutputMessage``, ``FunctionDefinition``), infer/mod.rs (``InferError``) and server.rs (its statuses);
https://huggingface.co/docs/text-generation-inference/messages_api. It serves one model whatever name it is asked for,
and older versions finish with words of their own and send a tool's arguments as an object.
"""

from tests.components.models.wire.forms import Failed, Form, Seen, chat


def reply(message, finish="stop"):
    return chat(message, finish) | {"id": "", "system_fingerprint": "3.3.4-sha-1"}


def called(arguments):
    function = {"description": None, "name": "measure", "arguments": arguments}
    return {"tool_calls": [{"id": "0", "type": "function", "function": function}]}


def refused(status, text, error_type, seen):
    return Form({"error": text, "error_type": error_type}, seen, status)


TEMPORARY = Failed("server", None, True)
FORMS = {
    "text": Form(reply("Hello"), Seen()),
    "end of sequence": Form(reply("Hello", "eos_token"), Seen()),
    "a stop string": Form(reply("Hello", "stop_sequence"), Seen()),
    "length": Form(reply("Hel", "length"), Seen("Hel", finish="length")),
    "tool calls": Form(
        reply(called('{"site":"liver"}')), Seen("", None, (("0", "measure", '{"site":"liver"}'),), "tool_calls")
    ),
    "tool calls, older": Form(
        reply(called({"site": "liver"}), "eos_token"),
        Seen("", None, (("0", "measure", '{"site":"liver"}'),), "tool_calls"),
    ),
    "reasoning": Form(reply("<think>First.</think>Hello"), Seen(reasoning="First.")),
    "overloaded": refused(429, "Model is overloaded", "overloaded", Failed("rate_limit", None, True)),
    "the model failed": refused(424, "Request failed during generation: Server error", "generation", TEMPORARY),
    "incomplete": refused(500, "Incomplete generation", "incomplete_generation", TEMPORARY),
    "no chat template": refused(
        422, "Template error: template not found", "template_error", Failed("bad_request")
    ),
    "a wrong setting": refused(
        422, "Input validation error: `temperature` must be strictly positive", "validation", Failed("bad_request")
    ),
    "a wrong tool": refused(422, "Tool error: Tool with name x not found", "tool_error", Failed("bad_request")),
    "wrong key": Form(b"", Failed("auth"), 401),
}  # fmt: skip
