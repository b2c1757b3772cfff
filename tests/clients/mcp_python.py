"""The mcp package, in the protocol of 2026 and in that of 2025."""

import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from checks import ANSWER, QUESTION, Places, check

places = Places()
place = places.plain
root = place.base.removesuffix("/api/public/v1")
addresses = {"all boxes": f"{root}/mcp", "one box": f"{place.base}/boxes/{place.box}/mcp"}


def connect(address, key=place.key, **options):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    return Client(streamable_http_client(address, http_client=http), **options)


async def use(what, address, era, **options):
    async with connect(address, **options) as client:
        check(f"{what}: protocol", client.protocol_version.startswith(era))
        tools = (await client.list_tools()).tools
        check(f"{what}: tools, read-only", [tool.name for tool in tools][:2] == ["search", "fetch"]
              and all(tool.annotations.read_only_hint for tool in tools))
        found = await client.call_tool("search", {"query": QUESTION})
        first = found.structured_content["results"][0]
        check(f"{what}: search", not found.is_error and ANSWER in first["text"] and first["url"].startswith("https://"))
        check(f"{what}: units shown", found.meta["quire/usage"]["intelligence_units_consumed"] >= 1)
        fetched = await client.call_tool("fetch", {"id": first["id"]})
        check(f"{what}: fetch", ANSWER in fetched.structured_content["text"])
        answer = await client.call_tool("ask", {"question": QUESTION})
        check(f"{what}: ask", ANSWER in answer.structured_content["answer"] and answer.structured_content["citations"])
        wrong = await client.call_tool("fetch", {"id": "nonsense"})
        check(f"{what}: a tool that fails says so", wrong.is_error)


async def main():
    for name, address in addresses.items():
        await use(f"2026, {name}", address, "2026")
        await use(f"2025, {name}", address, "2025", mode="legacy")
    try:
        async with connect(addresses["all boxes"], key=places.wrong_key.key) as client:
            await client.list_tools()
        check("wrong key", False)
    except BaseException:
        check("wrong key", True)


asyncio.run(main())
