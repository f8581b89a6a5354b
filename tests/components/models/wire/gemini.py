"""Google's Gemini API (generateContent), through litellm.

Sources: https://ai.google.dev/api/generate-content (``GenerateContentResponse``, ``FinishReason``, ``UsageMetadata``);
https://ai.google.dev/gemini-api/docs/thinking; https://ai.google.dev/gemini-api/docs/troubleshooting (statuses);
https://github.com/RooCodeInc/Roo-Code/issues/3883 and https://github.com/googleapis/python-genai/pull/2114 (a whole 429:
the wait is in the body, no header has it). ``candidatesTokenCount`` leaves out thoughts. litellm makes an id for a call
that has none.
"""

from tests.components.models.wire.forms import Failed, Form, Seen

USAGE = {
    "promptTokenCount": 125, "candidatesTokenCount": 18, "totalTokenCount": 155, "cachedContentTokenCount": 100,
    "thoughtsTokenCount": 12, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 125}],
}  # fmt: skip
COUNTS = (125, 30, 100, 12)
NOTHING = {"promptTokenCount": 125, "totalTokenCount": 125}  # usage of a reply without a word


def reply(*parts, finish="STOP", usage=USAGE, **candidate):
    content = {"content": {"parts": list(parts), "role": "model"}} if parts else {}
    candidate = content | {"finishReason": finish, "index": 0} | candidate
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"}


def refused(code, status, message, seen, *details):
    return Form({"error": {"code": code, "message": message, "status": status, "details": list(details)}}, seen, code)


def exceeded(period, delay):
    name = "type.googleapis.com/google.rpc."
    violation = {"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                 "quotaId": f"GenerateRequestsPer{period}PerProjectPerModel", "quotaValue": "5",
                 "quotaDimensions": {"location": "global", "model": "m"}}  # fmt: skip
    return {"@type": f"{name}QuotaFailure", "violations": [violation]}, {
        "@type": f"{name}RetryInfo",
        "retryDelay": delay,
    }


def filtered(reason):
    rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH"}
    return Form(reply(finish=reason, usage=NOTHING, safetyRatings=[rating]), Failed("content_filter"))


REASON = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
          "metadata": {"service": "generativelanguage.googleapis.com"}}  # fmt: skip
QUOTA = "You exceeded your current quota, please check your plan and billing details."
TEMPORARY = Failed("server", None, True)
FORMS = {
    "text": Form(reply({"text": "Hello"}), Seen(usage=COUNTS)),
    "reasoning": Form(
        reply({"text": "First.", "thought": True}, {"text": "Hello", "thoughtSignature": "c2ln"}),
        Seen(reasoning="First.", usage=COUNTS),
    ),
    "tool calls": Form(
        reply({"functionCall": {"id": "a", "name": "measure", "args": {"site": "liver"}}},
              {"functionCall": {"id": "b", "name": "measure", "args": {}}}),
        Seen("", None, (("a", "measure", '{"site": "liver"}'), ("b", "measure", "{}")), "tool_calls", COUNTS),
    ),
    "length": Form(reply({"text": "Hel"}, finish="MAX_TOKENS"), Seen("Hel", finish="length", usage=COUNTS)),
    "all tokens went into thoughts": Form(
        reply(finish="MAX_TOKENS", content={"role": "model"}), Seen("", finish="length", usage=COUNTS)
    ),
    "a malformed call": Form(
        reply(finish="MALFORMED_FUNCTION_CALL", content={}, finishMessage="Malformed function call"),
        Seen("", finish="MALFORMED_FUNCTION_CALL", usage=COUNTS),
    ),
    "safety": filtered("SAFETY"),
    "recitation": filtered("RECITATION"),
    "prohibited": filtered("PROHIBITED_CONTENT"),
    "filtered prompt": Form(
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": NOTHING, "modelVersion": "m"},
        Failed("content_filter"),
    ),
    "wrong key": refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", Failed("auth"), REASON),
    "not permitted": refused(403, "PERMISSION_DENIED", "The caller does not have permission", Failed("auth")),
    "unknown model": refused(404, "NOT_FOUND", "models/m is not found for API version v1beta", Failed("bad_request")),
    "a wrong setting": refused(400, "INVALID_ARGUMENT", "Invalid value at 'generation_config'", Failed("bad_request")),
    "rate limit": refused(429, "RESOURCE_EXHAUSTED", QUOTA, Failed("rate_limit", 26.5, True), *exceeded("Minute", "26.5s")),
    "rate limit without a time": refused(429, "RESOURCE_EXHAUSTED", QUOTA, Failed("rate_limit", None, True)),
    "limit of a day": refused(429, "RESOURCE_EXHAUSTED", QUOTA, Failed("quota", 37025.0), *exceeded("Day", "37025s")),
    "server error": refused(500, "INTERNAL", "An internal error has occurred.", TEMPORARY),
    "overloaded": refused(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", TEMPORARY),
    "deadline": refused(504, "DEADLINE_EXCEEDED", "The request timed out.", TEMPORARY),
}  # fmt: skip
