"""An agent in plain Python: it asks the model, calls the tools that the model names, and prints the last reply.

``python -m runner agent=external 'agent.command=[python,docs/examples/plain_agent.py]' dataset=cab_mini``
"""

import json
import sys
import urllib.request


def post(url, token, body):
    """The JSON that an address replies with."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as reply:
        return json.load(reply)


def main():
    given = json.load(sys.stdin)
    model, mcp = given["model"], given["mcp"]

    def tools(method, **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": f"tools/{method}", "params": params}
        return post(mcp["url"], mcp["token"], body)["result"]

    functions = [
        {"type": "function", "function": {"name": one["name"], "description": one["description"],
                                          "parameters": one["inputSchema"]}}
        for one in tools("list")["tools"]
    ]  # fmt: skip
    messages = [{"role": "user", "content": given["problem"]["text"]}]
    for _ in range(10):
        request = {"model": model["name"], "messages": messages, "tools": functions}
        reply = post(f"{model['base_url']}/chat/completions", model["api_key"], request)["choices"][0]["message"]
        messages.append(reply)
        if not reply.get("tool_calls"):
            break
        for call in reply["tool_calls"]:
            function = call["function"]
            result = tools("call", name=function["name"], arguments=json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result["content"][0]["text"]})
    print(json.dumps({"answer": reply["content"] or ""}))


main()
