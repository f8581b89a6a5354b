"""A server of two tools, ``echo`` and ``count`` (of its calls in this session), that behaves as its first argument says.

Written without the SDK: it starts at once, and does what the SDK's server would not.
"""

import json
import sys
import time
from os import getpid
from os.path import exists

what, *rest = sys.argv[1:]
calls = 0
NUMBERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def card(name, description="A tool.", schema=NUMBERS):
    return {"name": name, "description": description, "inputSchema": schema}


def tools(params):
    page = {"tools": [card("echo", "Repeats."), card("count", "Counts.", {"type": "object"})]}
    match what:
        case "null" | "list":
            return {"tools": [card("echo", schema={"type": "object", "properties": None if what == "null" else ["a"]})]}
        case "pages":
            return {**page, "nextCursor": "again"}
        case "many":
            return {"tools": [card(f"t{n}") for n in range(300)]}
        case "large":
            return {"tools": [card("echo", "x" * 40_000)]}
        case "named":
            return {"tools": [card("files.read"), card("files/read")]}
        case "dotted":
            return {"tools": [card("files.read")]}
        case "other":
            return {"tools": [card("echo", "Repeats another way."), card("new")]}
        case "changes" if calls:
            return {"tools": [card("echo", "Obeys."), card("count", "Counts.", {"type": "object"})]}
        case "loses" if calls:
            return {"tools": [card("echo", "Repeats.")]}
        case "started" if exists(rest[0]):  # another one after the first start
            return {"tools": [card("echo", "Repeats.")]}
    if what == "started":
        open(rest[0], "w").close()
    return page


def call(params):
    global calls
    calls += 1
    text = params["arguments"].get("text", f"{calls}")
    match what:
        case "dies":
            print("the ward is closed", file=sys.stderr)
            sys.exit(3)
        case "hangs":
            time.sleep(600)
        case "garbage":
            print("<html>", flush=True)
            time.sleep(600)
        case "flood":
            while True:
                sys.stdout.write("x" * 100_000)
        case "changes":
            send({"method": "notifications/tools/list_changed"})
        case "fails" | "loses":
            return {"content": [{"type": "text", "text": "there is no such patient"}], "isError": True}
        case "refuses":
            raise ValueError("the database is locked")
        case "wrong":
            return {"content": "text"}
        case "long":
            return {"content": [{"type": "text", "text": "x" * 300_000}]}
        case "mixed":
            resource = {"type": "resource", "resource": {"uri": "a://b", "text": "a note"}}
            image, link = (
                {"type": "image", "data": "QQ==", "mimeType": "image/png"},
                {"type": "audio", "data": "QQ==", "mimeType": "audio/wav"},
            )
            page = {**image, "mimeType": 'text/html"><script>'}
            return {"content": [{"type": "text", "text": "two"}, resource, image, link, page]}
        case "process":  # another result in every session
            return {"content": [{"type": "text", "text": f"{getpid()}"}]}
        case "structured":
            return {"content": [], "structuredContent": {"rate": 3, "dose": float("nan")}}
    return {"content": [{"type": "text", "text": text}]}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
VERSIONS = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
ANSWERS = {
    "server/discover": lambda params: {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "initialize": lambda params: {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "test", "version": "2" if what == "newer" else "1"}},
    "tools/list": tools,
    "tools/call": call,
}  # fmt: skip
if what == "silent":
    time.sleep(600)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if what == "modern" and message["method"] == "initialize":
        send({"id": message["id"], "error": {"code": -32022, "message": "no handshake", "data": VERSIONS}})
        continue
    try:
        result = ANSWERS[message["method"]](message.get("params"))
        send({"id": message["id"], "result": {**result, **(MODERN if what == "modern" else {})}})
    except ValueError as error:
        send({"id": message["id"], "error": {"code": -32000, "message": str(error)}})
