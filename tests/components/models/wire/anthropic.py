"""Anthropic's Messages API, through litellm.

Sources: https://github.com/anthropics/anthropic-sdk-python/tree/main/src/anthropic/types (message.py, usage.py,
output_tokens_details.py, stop_reason.py, refusal_stop_details.py); https://platform.claude.com/docs/en/api/errors;
https://platform.claude.com/docs/en/api/rate-limits (headers, ``enforced_spend_limit_reached``). All input is the sum of
the uncached, the written and the read tokens. litellm calls a refusal ``content_filter``.
"""

from tests.components.models.wire.forms import Failed, Form, Seen

USAGE = {
    "input_tokens": 20, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 30,
    "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
    "output_tokens_details": {"thinking_tokens": 12}, "server_tool_use": None, "inference_geo": "us",
}  # fmt: skip
COUNTS = (125, 30, 100, 12)
LIMITS = {
    "anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-11-26T08:00:07Z", "anthropic-ratelimit-tokens-remaining": "9000",
}  # fmt: skip


def reply(*content, stop="end_turn", **more):
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content), "container": None,
        "stop_reason": stop, "stop_sequence": None, "stop_details": None, "usage": USAGE, **more,
    }  # fmt: skip


def text(written):
    return {"type": "text", "text": written, "citations": None}


def refused(status, kind, message, seen, headers=None, **more):
    body = {"type": "error", "error": {"type": kind, "message": message, **more}, "request_id": "req_1"}
    return Form(body, seen, status, headers)


THINKING = {"type": "thinking", "thinking": "First.", "signature": "c2ln"}
TOOLS = [
    {"type": "tool_use", "id": f"toolu_{n}", "name": "measure", "input": one}
    for n, one in enumerate([{"site": "liver"}, {}])
]
DECLINED = {"type": "refusal", "category": "bio", "explanation": "It is about a pathogen."}
TEMPORARY = Failed("server", None, True)
FORMS = {
    "text": Form(reply(text("Hello")), Seen(usage=COUNTS)),
    "reasoning": Form(
        reply(THINKING, {"type": "redacted_thinking", "data": "eA=="}, text("Hello")), Seen(reasoning="First.", usage=COUNTS)
    ),
    "tool calls": Form(
        reply(text("I look."), *TOOLS, stop="tool_use"),
        Seen("I look.", None, (("toolu_0", "measure", '{"site": "liver"}'), ("toolu_1", "measure", "{}")), "tool_calls", COUNTS),
    ),
    "a stop string": Form(reply(text("Hello"), stop="stop_sequence", stop_sequence="END"), Seen(usage=COUNTS)),
    "length": Form(reply(text("Hel"), stop="max_tokens"), Seen("Hel", finish="length", usage=COUNTS)),
    "refusal": Form(reply(stop="refusal", stop_details=DECLINED), Failed("content_filter")),
    "refusal while writing": Form(
        reply(text("Hel"), stop="refusal", stop_details=DECLINED), Seen("Hel", finish="content_filter", usage=COUNTS)
    ),
    "filtered reply": refused(
        400, "invalid_request_error", "Output blocked by content filtering policy", Failed("content_filter")
    ),
    "wrong key": refused(401, "authentication_error", "invalid x-api-key", Failed("auth")),
    "not permitted": refused(403, "permission_error", "The key may not use this model.", Failed("auth")),
    "unknown model": refused(404, "not_found_error", "model: m", Failed("bad_request")),
    "too many bytes": refused(413, "request_too_large", "Request exceeds the maximum size", Failed("bad_request")),
    "rate limit": refused(
        429, "rate_limit_error", "This request would exceed the organization's rate limit.", Failed("rate_limit", 7.0, True),
        LIMITS | {"retry-after": "7"},
    ),
    "spend cap of the tier": refused(
        429, "rate_limit_error", "The monthly cap is reached.", Failed("quota"),
        details={"error_code": "enforced_spend_limit_reached"},
    ),
    "spend limit": refused(
        400, "invalid_request_error", "You have reached your specified API usage limits.", Failed("quota")
    ),
    "spend limit of the workspace": refused(
        400, "invalid_request_error", "You have reached your specified workspace API usage limits.", Failed("quota")
    ),
    "no credit": refused(
        400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", Failed("quota")
    ),
    "no payment": refused(402, "billing_error", "There is an issue with your payment.", Failed("quota")),
    "server error": refused(500, "api_error", "Internal server error", TEMPORARY),
    "timeout": refused(504, "timeout_error", "The request timed out.", TEMPORARY),
    "overloaded": refused(529, "overloaded_error", "Overloaded", TEMPORARY),
}  # fmt: skip
