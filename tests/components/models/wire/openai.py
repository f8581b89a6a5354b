"""OpenAI.

Sources: https://platform.openai.com/docs/api-reference/chat/object,
https://github.com/openai/openai-python/blob/main/src/openai/types/completion_usage.py,
https://platform.openai.com/docs/guides/error-codes, https://platform.openai.com/docs/guides/rate-limits (the headers), and
https://learn.microsoft.com/microsoft-cloud/dev/dev-proxy/concepts/openai-insufficient-quota (the codes of a spent budget);
Azure's filter: https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter. ``retry-after-ms`` is read by
OpenAI's own client (``_base_client.py``).
"""

from tests.components.models.wire.forms import Failed, Form, Seen, call, chat

USAGE = {
    "prompt_tokens": 1200, "completion_tokens": 300, "total_tokens": 1500,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 256, "audio_tokens": 0, "accepted_prediction_tokens": 0,
                                  "rejected_prediction_tokens": 0},
}  # fmt: skip
LIMITS = {
    "x-ratelimit-limit-requests": "500", "x-ratelimit-limit-tokens": "30000", "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-requests": "120ms", "x-ratelimit-reset-tokens": "6m0s",
}  # fmt: skip


def message(content="Hello", **fields):
    return {"content": content, "refusal": None, "annotations": [], **fields}


def error(text, kind="invalid_request_error", code=None, param=None):
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


def spent(code):
    return Form(error("Access is paused.", "insufficient_quota", code), Failed("quota"), 429)


FORMS = {
    "text": Form(chat(message(), service_tier="default", system_fingerprint="fp_1"), Seen()),
    "cached and reasoning tokens": Form(chat(message(), usage=USAGE), Seen(usage=(1200, 300, 1024, 256))),
    "tool calls": Form(
        chat(message(None, tool_calls=[call("measure", '{"site":"liver"}', "call_a"), call("count", "{}", "call_b")]), "tool_calls"),
        Seen("", None, (("call_a", "measure", '{"site":"liver"}'), ("call_b", "count", "{}")), "tool_calls"),
    ),
    "a named tool": Form(  # its finish reason is stop
        chat(message(None, tool_calls=[call("measure", "{}", "call_a")])),
        Seen("", None, (("call_a", "measure", "{}"),), "tool_calls"),
    ),
    "refusal": Form(chat(message(None, refusal="I can't help with that.")), Seen("I can't help with that.", finish="refusal")),
    "length": Form(chat(message("Hel"), "length"), Seen("Hel", finish="length")),
    "all tokens went into reasoning": Form(
        chat(message(""), "length", USAGE), Seen("", finish="length", usage=(1200, 300, 1024, 256))
    ),
    "filtered reply": Form(chat(message(None), "content_filter"), Failed("content_filter")),
    "filtered while writing": Form(chat(message("Hel"), "content_filter"), Seen("Hel", finish="content_filter")),
    "filtered prompt": Form(
        error("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", code="invalid_prompt"),
        Failed("content_filter"), 400,
    ),
    "filtered prompt, Azure": Form(
        {"error": {"message": "The response was filtered.", "type": None, "param": "prompt", "code": "content_filter",
                   "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}}},
        Failed("content_filter"), 400,
    ),
    "wrong key": Form(error("Incorrect API key provided: sk-1.", code="invalid_api_key"), Failed("auth"), 401),
    "wrong country": Form(
        error("Country not supported.", "request_forbidden", "unsupported_country_region_territory"), Failed("auth"), 403
    ),
    "unknown model": Form(
        error("The model `m` does not exist or you do not have access to it.", code="model_not_found"),
        Failed("bad_request"), 404,
    ),
    "unknown parameter": Form(
        error("Unsupported parameter: 'top_k'", code="unsupported_parameter", param="top_k"), Failed("bad_request"), 400
    ),
    "rate limit": Form(
        error("Rate limit reached for m on tokens per min (TPM).", "tokens", "rate_limit_exceeded"),
        Failed("rate_limit", 20.0, True), 429, LIMITS | {"retry-after": "20", "retry-after-ms": "20000"},
    ),
    "rate limit, milliseconds": Form(
        error("Rate limit reached for m on requests per min (RPM).", "requests", "rate_limit_exceeded"),
        Failed("rate_limit", 0.12, True), 429, LIMITS | {"retry-after": "1", "retry-after-ms": "120"},
    ),
    "rate limit without a wait": Form(
        error("Rate limit reached for m on tokens per min (TPM).", "tokens", "rate_limit_exceeded"),
        Failed("rate_limit", 360.0, True), 429, LIMITS,
    ),
    "sudden load": Form(error("Slow down.", "rate_limit_error", "slow_down"), Failed("rate_limit", None, True), 429),
    "no quota": spent("insufficient_quota"),
    "no credit": spent("credit_balance_exhausted"),
    "spend limit of the organization": spent("organization_spend_limit_exceeded"),
    "spend limit of the project": spent("project_spend_limit_exceeded"),
    "usage limit": spent("organization_usage_limit_exceeded"),
    "server error": Form(error("The server had an error.", "server_error"), Failed("server", None, True), 500),
    "overloaded": Form(
        error("The model is overloaded.", "service_unavailable_error", "server_is_overloaded"),
        Failed("server", 3.0, True), 503, {"retry-after": "3"},
    ),
}  # fmt: skip
