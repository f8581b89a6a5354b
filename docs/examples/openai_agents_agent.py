"""An agent of the OpenAI Agents SDK, unchanged: the endpoint and the key come from the environment that it is given.

``make .venv-agents/.installed`` installs what it needs; then ``agent=external`` runs it with
``'agent.command=[.venv-agents/bin/python,docs/examples/openai_agents_agent.py]'``.
"""

import asyncio
import json
import os
import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp

set_tracing_disabled(True)  # it would send traces to OpenAI


async def main():
    problem = json.load(sys.stdin)["problem"]
    token = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
    async with MCPServerStreamableHttp({"url": os.environ["MCP_URL"], "headers": token}) as server:
        agent = Agent(
            "clinician", "You solve clinical problems.", model=os.environ["OPENAI_MODEL"], mcp_servers=[server]
        )
        result = await Runner.run(agent, problem["text"], max_turns=10)
    print(json.dumps({"answer": str(result.final_output)}))


asyncio.run(main())
