import json
import os
import re
import subprocess
import sys
import time
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

from components.core.messages import Completion, Message, ToolCall, Usage
from components.core.redaction import _PATTERNS, forms_of, redact, without_echo, without_key
from tests.table import each_row


def test_each_pattern_hides_its_example():
    examples = {
        "header": "authorization: Basic abc", "headers": "headers={X-Team:abc}", "bearer": "Bearer abcdef1234",
        "address": "//me:abc@", "assignment": "password=abcdef", "password": "pwd: abcdef", "token": "hf_abcdefghijKlmnop1", "query": "&sig=abc",
    }  # fmt: skip
    assert {name: re.sub(_PATTERNS[name], "", text) for name, text in examples.items()} == {
        **dict.fromkeys(_PATTERNS, ""), "address": "//", "query": "&sig=",
    }  # fmt: skip


@each_row(
    "key",
    [
        "sk-proj-abcDEF123456789",
        "sk-abc1*********wxyz",
        "sk-ant-api03-abc_def-ghi",
        "AIzaSyA1234567890abcdefg",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_abcdefghijKlmnop1",
        "gsk_abcdefghijKlmnop1",
        "xai-abcdefghijKlmnop1",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    ],
)
def test_texts_that_look_like_a_key_are_hidden(key):
    assert redact(f"Incorrect API key provided: {key}.").find(key[:9]) == -1
    assert key not in redact(f"header Authorization: Bearer {key} was sent")
    assert key not in redact(f"GET https://host/v1?key={key}&x=1")


UNSEEN = [
    "\u200b",
    "\u2060",
    "\ufeff",
    "\xad",
    "\ufe0f",
    "\0",
    "\x7f",
    "\x9b",
    "\U0001bca0",
    "\U0001d173",
    "\U000e0100",
]
ESCAPES = ["\x1b7", "\x1bM", "\x1b", "\x9b31m", "\x90q\x9c", "\x9d0;title\x07", "\x84"]
SEQUENCES = ["\x1b[1;31m", "\x1b(B", "\x1b]0;title\x07", "\x1b]8;;http://host/\x1b\\", "\x1bPq\x1b\\"]


@each_row("unseen", UNSEEN + ESCAPES + SEQUENCES)
def test_a_key_that_is_split_by_what_nobody_sees_is_hidden(unseen):
    split = unseen.join("sk-proj-abcDEF123456789")
    assert redact(f"wrong\u200b key\n{split}.") == "wrong key\n[hidden]"
    assert redact(f"wrong: {unseen.join('hunter2')}", ["hunter2"]) == "wrong: [hidden]"
    assert redact(f"no{unseen}thing") == f"no{unseen}thing"


def test_a_key_within_a_terminal_sequence_is_hidden():
    link = "\x1b]8;;http://host/?key=abc\x1b\\here\x1b]8;;\x1b\\"
    assert redact(link) == link.replace("abc", "[hidden]")


def test_visible_characters_stay_where_a_key_is_hidden():
    assert redact("caf\ufffd\te\u0301\r\nsk-proj-abcDEF\u200b123456789") == "caf\ufffd\te\u0301\r\n[hidden]"


@each_row(
    "header",
    [
        "Authorization: Basic dXNlcjpwYTU1",
        "Proxy-Authorization: basic dXNlcjpwYTU1",
        "Authorization: Bearer dXNlcjpwYTU1",
        "Authorization: Token dXNlcjpwYTU1",
        "{'Authorization': 'Basic dXNlcjpwYTU1'}",
        "(b'authorization', b'Basic dXNlcjpwYTU1')",
        "Authorization=Negotiate dXNlcjpwYTU1",
        r"{\"Authorization\": \"Basic dXNlcjpwYTU1\"}",
        r"{\\\"authorization\\\": [\\\"Basic dXNlcjpwYTU1\\\"]}",
        "{'Authorization': ['Basic dXNlcjpwYTU1']}",
        '{"X-Api-Key": ["dXNlcjpwYTU1"]}',
        "Signature=dXNl+cjpw/YTU1-dXNlcjpwYTU1",
        "authorization: dXNlcjpwYTU1dXNlcjpwYTU1",
        "model.headers={X-Team:dXNlcjpwYTU1,X-Other:'{dXNlcjpwYTU1}'}",
        "token=${TEAM}dXNlcjpwYTU1",
        "token=${oc.env:TEAM,dXNlcjpwYTU1}",
        "token=${TEAM:-dXNlcjpwYTU1}",
    ],
)
def test_the_credentials_of_a_header_are_hidden(header):
    assert "dXNlcjpwYTU1" not in redact(f"sent {header} to host")


@each_row(
    "text, hidden",
    [
        ('"password": "pa,ssword123", "user": "me"', '"[hidden]", "user": "me"'),
        (r'"password": "ab\"cdefghijkl", "user": "me"', '"[hidden]", "user": "me"'),
        (r"{\"password\": \"it\'s \\\"mine\\\", now\", \"a\": 1}", r"{\"[hidden]\", \"a\": 1}"),
        ("password='correct horse battery' of me", "[hidden]' of me"),
        ('{"token": "correct horse ba', '{"[hidden]'),
        ("secret: \"correct horse\ntoken='${TEAM} correct horse'", "[hidden]\n[hidden]'"),
    ],
)
def test_a_secret_in_quotes_is_hidden_up_to_its_closing_quote(text, hidden):
    assert redact(text) == hidden


@each_row(
    "url, hidden",
    [
        ("http://user:pa55@host/v1", "http://[hidden]host/v1"),
        ("http://user:p@s@host/a@b", "http://[hidden]host/a@b"),
        ("https://host/v1?sig=abc&x=1", "https://host/v1?sig=[hidden]&x=1"),
        ("http://user:p/s?s@host/db", "http://[hidden]host/db"),
        ("//user:pa55@host/db", "//[hidden]host/db"),
        ("file:///me@home and // me@home", "file:///me@home and // me@home"),
        ("http://user:p/s@s@host/db", "http://[hidden]host/db"),
        ("http://user:p//w@host/db", "http://[hidden]host/db"),
        ("http://user:p!//w://x@host/db", "http://[hidden]host/db"),
        ("http://[::1]:5000/?at=http://user:p/w@host", "http://[::1]:5000/?at=http://[hidden]host"),
        ("http://[::1]:5000/model@2024", "http://[::1]:5000/model@2024"),
        ("http://host:${PORT}/@me", "http://host:${PORT}/@me"),
        ("http://localhost:8080/model@2024", "http://localhost:8080/model@2024"),
        ("https://host/v1?x=1&auth=abc", "https://host/v1?x=1&auth=[hidden]"),
        ("https://host/back?code=4/0AX4XfWhb1C2d3E4f5G6h&x=1", "https://host/back?code=[hidden]&x=1"),
        ("https://host/v1?access_token=abcdef&x=1", "https://host/v1?access_[hidden]&x=1"),
    ],
)
def test_credentials_in_a_url_are_hidden(url, hidden):
    assert redact(url) == hidden


@each_row(
    "text",
    [
        "The model `meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8` does not exist.",
        "gpt-4o-mini-2024-07-18 at https://api.openai.com: HTTP 404 (model_not_found)",
        "This model's maximum context length is 8192 tokens, max_tokens: 20000",
        "the environment variable OPENAI_API_KEY is not set",
        "HF_TOKEN_READ",
        "401 Unauthorized: credentials: missing",
        "token: expired at 12:00",
        "password: required\nwrong password: rejected\npassword: [hidden]\npasswords: everybody",
        "password: ask the desk\npassword:\npassword: ${MY_PASSWORD}\npwd: abc",
        "model.api_key=${oc.env:MY_KEY}, token: '${MY_TOKEN}', password=\"${MY:?set it to the value}\"",
        "the authorization header is missing; a basic metabolic panel",
        "digest 0123456789abcdef0123456789abcdef, run 01234567-89ab-cdef-0123-456789abcdef",
        "run.resume=/runs/5a8799c0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f60/outputs",
        "/home/me/my sk-learn-contributors-2024/outputs",
        "/data/sk-ant-api03-looks-like-a-key/run",
        "C:\\runs\\AKIAIOSFODNN7EXAMPLE\\outputs",
        "GET /Condition?code=E11.9&x=1, Observation?code=http://loinc.org|2160-0, ?code=900000000000441003",
        "the bearer of BRCA1, bearer status positive; BP 120//80@rest",
        "gene signature: KRAS/TP53/STK11/KEAP1, tumour signature: HER2-positive/ER-negative",
        "Prior authorization: approved2024, authorization: PRIOR-AUTH-12345, authorization=granted",
        "Token: 1.2.840.113619.2.55.3.604688119.868.1234.",
        "sk-MEL-28_melanoma_cells, hf_reduced_EF_below_40_percent, pk-AUC0-24_SteadyState_Value",
    ],
)
def test_ordinary_text_stays(text):
    assert redact(text) == text


@each_row(
    "text, hidden",
    [
        ("password: correcthorse", "[hidden]"),
        ("user: me\n  db_password: correcthorse  # mine\nhost: h", "user: me\n  db_[hidden]  # mine\nhost: h"),
        ('{"error": "refused, pwd: correcthorse"}', '{"error": "refused, [hidden]"}'),
        (r'"passphrase: correcthorse\nuser: me"', r'"[hidden]\nuser: me"'),
    ],
)
def test_a_password_of_letters_is_hidden_at_the_end_of_a_line(text, hidden):
    assert redact(text) == hidden


KEY = 'plain/key+0123"456789-abc'
ENCODED = {
    "reversed": KEY[::-1], "for JSON": json.dumps(KEY)[1:-1], "for an address": quote(KEY, safe=""),
    "for a path": quote(KEY), "in lower case": quote(KEY, safe="").replace("%2F", "%2f").replace("%2B", "%2b"),
    "for JSON in a page": json.dumps(KEY)[1:-1].replace("/", r"\/"), "hex": KEY.encode().hex(), "upper hex": KEY.encode().hex().upper(),
    "base64": b64encode(KEY.encode()).decode(), "for addresses": urlsafe_b64encode(KEY.encode()).decode(),
    "behind a name": b64encode(f"me:{KEY}".encode()).decode(), "within": b64encode(f"my {KEY}, it is".encode()).decode(),
}  # fmt: skip


@each_row("form", ENCODED)
def test_a_known_key_is_hidden_in_other_forms(form):
    text, known = ENCODED[form], forms_of((KEY,))
    assert "[hidden]" in (shown := redact(f"found {text}.", (KEY,))) and not any(one in shown for one in known)
    assert len(shown) <= len("found [hidden].") + 15, "what is left of a longer text has no letter of the key alone"
    kept = without_key(Completion(Message("assistant", text), Usage()), KEY)
    assert "[hidden]" in kept.message.text and text not in kept.message.text


def test_of_a_short_secret_only_itself_is_hidden():
    assert forms_of(("hunter2", "", "hunter2")) == ("hunter2",)


def test_a_named_secret_is_hidden_whatever_it_looks_like():
    assert redact("wrong: hunter2", ("hunter2", "")) == "wrong: [hidden]"


def test_the_value_of_a_secret_variable_is_hidden_in_every_process():
    code = "from components.core.redaction import redact; print(redact('found Zx81Zx81Zx81 and /etc/hostname'))"
    secrets = {"MISTRAL_API_KEY": "Zx81Zx81Zx81", "KEY_FILE": "/etc/hostname", "TOKENIZERS_PARALLELISM": "found"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | secrets, capture_output=True, text=True, check=True
    )
    assert said.stdout == "found [hidden] and /etc/hostname\n"


ASKED = (
    Message("system", "You are a radiologist."),
    Message("user", "Mr Jon Doe (71 y), fever.\nCRP 140 mg/L, infiltrate in the left lower lobe."),
    Message("assistant", "", (ToolCall("1", "look", '{"site": "left lower lobe"}'),)),
)


@each_row(
    "echo",
    [
        "Mr Jon Doe (71 y), fever.\nCRP 140 mg/L",
        "mr jon doe (71 y), fever.\\nCRP 140 mg/L",
        "{'content': 'Mr Jon Doe (71 y), fever.\\nCRP 140 mg/L, infiltrate in the left lower lobe.'}",
        "'Jon Doe'",
        '"fever"',
        "`left lower lobe`",
    ],
)
def test_an_echo_of_the_request_is_hidden(echo):
    redacted = without_echo(f"1 validation error: input was {echo} (type=string)", ASKED)
    assert not any(word in redacted.lower() for word in ("jon doe", "fever", "crp 140", "lower lobe"))
    assert redacted.startswith("1 validation error: input was ")


def test_the_providers_own_message_is_kept():
    text = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    assert without_echo(text, ASKED) == text


def test_long_texts_are_cut():
    assert len(without_echo("no " * 1000, ASKED)) == 400


def test_letters_that_grow_in_lower_case_hide_the_whole():
    assert without_echo("İstanbul said Mr Jon Doe (71 y), fever", ASKED) == "..."


@each_row(
    "text",
    [
        "sk-" + "A" * 40_000 + "/",
        "://" + "a@" * 20_000,
        "authorization:" + " " * 40_000,
        "sk-*" + "a" * 40_000 + "/",
        "sk-*" * 10_000 + "/",
        "eyJ" + "aaaaaaaa." * 5_000 + "/",
        "://a:b" * 20_000,
        "//a:b" * 20_000,
        "token=${" * 20_000,
        "token=" + "\\" * 40_000,
        "headers={{}" * 20_000,
        "headers={" + "{}" * 40_000,
        "\x1b]0;" * 20_000,
        "\x9d0;" * 20_000,
        "token='" + "\\" * 40_000,
        'token="' * 20_000,
        "//a:b" * 20_000 + '"@',
        "//a:b" * 20_000 + "@",
        "//[" * 20_000,
        "token=${a:?" * 20_000,
        "\x1b[" + "0" * 80_000,
        "password: abcdef #" * 20_000,
        "password: abcdef" + '"' * 80_000 + "x",
        "signature=" * 20_000,
        "?code=a/" * 20_000,
        "sk-A" + "-a" * 40_000,
    ],
)
def test_a_hostile_text_is_handled_quickly(text):
    begun = time.perf_counter()
    redact(text)
    assert time.perf_counter() - begun < 2  # it took six seconds and more


def test_the_key_of_a_request_is_hidden_in_its_reply():
    key = "plain-key-0123456789"
    message = Message("assistant", f"A {key}", (ToolCall("1", "look", f'{{"at":"{key}"}}'),), reasoning=f"{key}?")
    kept = without_key(Completion(message, Usage(), key, model=f"m {key}"), key)
    assert kept.message == Message("assistant", "A [hidden]", (ToolCall("1", "look", '{"at":"[hidden]"}'),))
    assert (kept.message.reasoning, kept.finish, kept.model) == ("[hidden]?", "[hidden]", "m [hidden]")


@each_row("key", ["", "not-needed", "plain-key-9876543210"])
def test_a_reply_without_the_key_stays(key):
    reply = Completion(Message("assistant", "not-needed"), Usage())
    assert without_key(reply, key) is reply
