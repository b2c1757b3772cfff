"""LangChain's adapters of MCP, as an agent's tools."""

import asyncio
import json

from langchain_mcp_adapters.client import MultiServerMCPClient

from checks import ANSWER, QUESTION, Places, check

place = Places().plain


def text_of(said):
    """What a tool said: a text, or blocks of it."""
    return said if isinstance(said, str) else "".join(block["text"] for block in said)


async def main():
    address = f"{place.base.removesuffix('/api/public/v1')}/mcp"
    server = {"transport": "streamable_http", "url": address, "headers": {"Authorization": f"Bearer {place.key}"}}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"quire": server}).get_tools()}
    check("tools", {"search", "fetch", "ask"} <= set(tools))
    found = json.loads(text_of(await tools["search"].ainvoke({"query": QUESTION})))["results"]
    check("search", ANSWER in found[0]["text"])
    fetched = json.loads(text_of(await tools["fetch"].ainvoke({"id": found[0]["id"]})))
    check("fetch", ANSWER in fetched["text"])


asyncio.run(main())
