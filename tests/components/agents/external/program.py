"""A program that behaves as its first argument says; the others are for that."""

import json
import os
import signal
import sys
import time

given = json.load(sys.stdin)
what, *rest = sys.argv[1:]


def post(url, body, token=given["mcp"]["token"]):
    import urllib.error
    import urllib.request  # half of the time that Python takes to start

    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json",
               "Accept": "application/json, text/event-stream"}  # fmt: skip
    try:
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
            raw = reply.read().decode()
            return reply.status, json.loads(raw) if raw.startswith("{") else raw
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def chat(text="hello", **more):
    body = {"model": given["model"]["name"], "messages": [{"role": "user", "content": text}], **more}
    return post(given["model"]["base_url"] + "/chat/completions", body)


def tool(method, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": f"tools/{method}", "params": params}
    return post(given["mcp"]["url"], body)[1]


def answer(**outcome):
    print(json.dumps(outcome))


match what:
    case "ask":
        answer(answer=chat(**json.loads(rest[0]) if rest else {})[1]["choices"][0]["message"]["content"])
    case "report":  # what the program was given, without what differs from run to run
        answer(answer=json.dumps([given["problem"], given["model"]["name"], sorted(os.environ)]))
    case "statuses":  # of requests that are refused
        other = post(
            given["model"]["base_url"] + "/chat/completions", {"model": "gpt-4", "messages": [{"role": "user"}]}
        )
        wrong = post(given["model"]["base_url"] + "/chat/completions", {}, "another token")
        tools = post(given["mcp"]["url"], {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, "")
        two, stop = chat(n=2), chat(temperature="hot")
        five, number = chat([{"type": "text", "text": 5}]), chat(tools=[{"function": {"name": []}}])
        stops, about, deep = chat(stop=5), chat(tools=[{"function": {"name": "a", "description": 5}}]), {}
        for _ in range(300):
            deep = {"a": deep}
        asked = (other, wrong, tools, two, stop, five, number, stops, about, chat(response_format=deep))
        answer(answer=json.dumps([one[0] for one in asked]))
    case "tools":  # list, call before the model was asked, ask, call again
        listed = [one["name"] for one in tool("list")["result"]["tools"]]
        name = rest[0] if rest else "add"
        first = tool("call", name=name, arguments={"numbers": [1, 2]})["result"]
        chat()
        second = tool("call", name=name, arguments={"numbers": []})["result"]
        answer(answer=json.dumps([listed, first["content"][0]["text"], second["isError"]]))
    case "stream":
        events = chat(stream=True)[1].split("\n\n")
        deltas = [json.loads(one[6:])["choices"][0]["delta"] for one in events if one.startswith("data: {")]
        answer(answer="".join(one.get("content", "") for one in deltas))
    case "until_refused":  # writes down the error; then it may answer, and hang
        while (reply := chat())[0] == 200:
            pass
        with open(rest[0], "w") as file:
            json.dump(reply, file)
        answer(answer="late")
        time.sleep(float(rest[1]) if rest[1:] else 0)
    case "overflow":  # the error is one that it can recover from, or not
        code = chat()[1]["error"]["code"]
        answer(answer=code) if rest else sys.exit(code)
    case "recover":  # from a request that is too long, and then crash
        chat("much too long"), chat("short")
        print("database is locked", file=sys.stderr)
        sys.exit(3)
    case "print":
        print(rest[0])
    case "exit":
        print("no such ward", file=sys.stderr)
        sys.exit(int(rest[0]))
    case "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    case "fork":  # leaves a child that keeps its streams, in a session of its own
        if os.fork():
            answer(answer="parent")
        else:
            os.setsid()
            time.sleep(3)
    case "many":
        statuses = [tool("list") for _ in range(int(rest[0]))]
        answer(failure="gave_up")
    case "hang":
        time.sleep(600)
    case "flood":
        while True:
            print("x" * 100_000)
