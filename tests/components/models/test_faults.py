import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate

import orjson
import pytest

from components.core.messages import Message
from components.models.replies import (
    Complaint,
    Fault,
    complaint_in,
    from_complaint,
    from_error_body,
    from_status,
    kind_of,
    retry_after,
)
from tests.table import each_row


def test_only_transient_faults_are_retryable():
    kinds = ("rate_limit", "server", "connection", "timeout", "unreadable")
    assert all(Fault(kind, "").retryable for kind in kinds)
    others = ("auth", "bad_request", "context_window", "quota")
    assert not any(Fault(kind, "").retryable for kind in others)


def test_an_exhausted_quota_is_not_transient():
    assert kind_of(429, "insufficient_quota") == "quota"


@each_row(
    "status, code, text, kind",
    [
        (422, "422", "Budget has been exceeded! Current cost: 2.0, Max budget: 1.0", "quota"),
        (429, "429", "No deployments available - crossed budget: 1.35e-05 >= 1e-09", "quota"),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan.", "rate_limit"),
        (400, "invalid_value", "Unknown column 'billing_code' in messages[0]", "bad_request"),
        (500, "server_error", "The credit balance is too low", "server"),
    ],
)
def test_a_spent_account_is_neither_a_limit_nor_a_mistake(status, code, text, kind):
    assert kind_of(status, code, text) == kind


@each_row("status, kind", [(401, "auth"), (403, "auth"), (402, "quota"), (404, "bad_request")])
def test_a_refused_account_is_not_an_overflow_whatever_its_message(status, kind):
    assert kind_of(status, "", "Too many tokens issued for this account; log in again") == kind


@each_row(
    "raw, kind",
    [
        (b"prompt is too long: 2000 tokens > 1000 maximum", "context_window"),
        (b'{"error": {"message": "This model\'s maximum context length is 100 tok', "context_window"),
        (b"<html>maximum context length</html>", "bad_request"),
        (b"", "bad_request"),
    ],
)
def test_a_complaint_without_json_is_read(raw, kind):
    assert from_status(400, raw, {}).kind == kind


def test_a_code_of_thousands_of_digits_is_not_a_status():
    fault = from_error_body({"code": "9" * 5000, "message": "maximum context length is 100 tokens"})
    assert fault.kind == "context_window"


def test_hostile_error_messages_are_read_quickly():
    begun = time.perf_counter()
    from_complaint(400, Complaint("sk-" + "A" * 40_000 + "/", "prompt (" * 40_000), {})
    assert time.perf_counter() - begun < 2


def test_a_429_that_speaks_of_tokens_is_a_rate_limit():
    assert kind_of(429, "", "Too many tokens, please wait before trying again.") == "rate_limit"


@each_row(
    "headers, seconds",
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"RETRY-AFTER": "-3"}, 0.0),
        ({"Retry-After": "99999"}, 99999.0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "9", "retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Thu, 01 Jan 2015 00:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after_in_every_form(headers, seconds):
    assert retry_after(headers) == seconds


R, T, A = "x-ratelimit-reset-requests", "x-ratelimit-reset-tokens", "anthropic-ratelimit-requests-reset"


@each_row(
    "headers, seconds",
    [
        ({R: "1s"}, 1.0),
        ({"X-RateLimit-Reset-Tokens": "6m0s"}, 360.0),
        ({T: "120ms", R: "1m2.5s"}, 62.5),
        ({T: "1m0s", "x-ratelimit-remaining-tokens": "9", R: "2s"}, 2.0),
        ({T: "1m0s", "x-ratelimit-remaining-tokens": "9"}, None),
        ({T: "9m0s", "x-ratelimit-remaining-tokens": ""}, None),
        ({R: "8h0m0s", T: "3s"}, 3.0),
        ({R: "8h0m0s"}, None),
        ({R: "1s", "Retry-After": "7"}, 7.0),
        ({A: "2015-01-01T00:00:00Z"}, 0.0),
        ({A: "2015-01-01T00:00:00"}, None),
        ({A: "soon", T: ""}, None),
    ],
)
def test_the_reset_of_a_used_up_limit_is_waited_for_where_no_wait_is_asked(headers, seconds):
    headers = {name.replace("reset", "remaining"): "0" for name in map(str.lower, headers) if "reset" in name} | headers
    assert from_status(429, b"{}", headers).retry_after == seconds
    assert (
        from_status(500, b"{}", {name: of for name, of in headers.items() if name != "Retry-After"}).retry_after is None
    )


def test_a_limit_of_which_nothing_says_that_it_is_used_up_is_not_waited_for():
    assert from_status(429, b"{}", {"x-ratelimit-reset-tokens": "9m0s"}).retry_after is None


@pytest.mark.parametrize("asked, seconds", [("2.3s", 2.3), ("120ms", 0.12), ("6m0s", 360.0), ("a while", 540.0)])
def test_a_wait_in_the_complaint_counts_more_than_the_reset_of_a_limit(asked, seconds):
    text = f"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000. Please try again in {asked}. Visit"
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "9m0s"}
    body = orjson.dumps({"error": {"message": text, "code": "rate_limit_exceeded"}})
    assert from_status(429, body, headers).retry_after == pytest.approx(seconds)
    assert from_status(500, body, headers).retry_after is None


def test_reset_at_a_time():
    reset = (datetime.now(UTC) + timedelta(seconds=20)).isoformat()
    headers = {"anthropic-ratelimit-output-tokens-reset": reset, "anthropic-ratelimit-output-tokens-remaining": "0"}
    assert from_status(429, b"{}", headers).retry_after == pytest.approx(20, abs=2)


@pytest.mark.parametrize("headers, seconds", [({}, 26.5), ({"Retry-After": "7"}, 7.0)])
def test_a_wait_in_the_body_counts_where_no_header_has_one(headers, seconds):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26.5s"}
    body = [{"error": {"code": 429, "message": "Resource has been exhausted", "details": [info]}}]
    for layout in (None, orjson.OPT_INDENT_2):
        fault = from_status(429, orjson.dumps(body, option=layout), headers)
        assert (fault.kind, fault.retry_after) == ("rate_limit", seconds)


def test_retry_after_as_a_date():
    assert retry_after({"Retry-After": formatdate(time.time() + 20, usegmt=True)}) == pytest.approx(20, abs=2)


@each_row(
    "body, code, text",
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, "c", "m"),
        ({"error": {"message": "m", "type": "t", "code": None}}, "t", "m"),
        ({"error": "m"}, "", "m"),
        ({"object": "error", "message": "m", "code": 400}, "400", "m"),
        ({"detail": "m"}, "", "m"),
        ({"detail": [{"loc": ["body"], "msg": "m", "type": "missing", "input": "x"}]}, "missing", "m"),
        ([1], "", ""),
        ({"error": {"message": {"a": 1}}}, "", ""),
    ],
)
def test_complaints_in_every_shape(body, code, text):
    complaint = complaint_in(body)
    assert (complaint.code, complaint.text) == (code, text)


def test_a_page_instead_of_json_is_not_shown(ask):
    fault = from_status(502, b"<html>Bad gateway</html>", {})
    assert fault.explain(ask("Hi"), ()) == "HTTP 502"


@each_row("code, kind", [(401, "auth"), (429, "rate_limit"), (None, "server"), ("x", "server")])
def test_an_error_with_status_200_counts_by_its_code(code, kind):
    assert from_error_body({"message": "m", "code": code}).kind == kind


def test_an_explanation_shows_neither_key_nor_request(ask):
    request = ask(Message("user", "Mrs Adelaide Quarterman, 71, has a swollen left knee."))
    complaint = complaint_in(
        {"error": {"message": "Incorrect key: mysecretvalue. Invalid value 'swollen left knee' at messages[0]."}}
    )
    text = from_complaint(400, complaint, {}).explain(request, ("mysecretvalue",))
    assert "mysecretvalue" not in text and "swollen" not in text
    assert text.startswith("HTTP 400: Incorrect key: [hidden]. Invalid value '") and text.endswith("at messages[0].")


@pytest.mark.parametrize("code", ["Mrs Quarterman has a swollen knee", "sk-proj-abcDEF0123456789"])
def test_a_code_that_is_not_a_label_is_not_shown(code):
    assert str(from_complaint(400, complaint_in({"error": {"code": code}}), {})) == "HTTP 400"
