"""The fastmcp package as a client."""

import asyncio

from fastmcp import Client

from checks import ANSWER, QUESTION, Places, check

place = Places().plain


async def main():
    address = f"{place.base}/boxes/{place.box}/mcp"
    async with Client(address, auth=place.key) as client:
        names = [tool.name for tool in await client.list_tools()]
        check("tools", names == ["search", "fetch", "list_boxes", "list_files", "read_pages", "ask"])
        found = await client.call_tool("search", {"query": QUESTION})
        first = found.structured_content["results"][0]
        check("search", ANSWER in first["text"])
        fetched = await client.call_tool("fetch", {"id": first["file_id"]})
        check("fetch", ANSWER in fetched.structured_content["text"])
        files = await client.call_tool("list_files", {"query": "warranty"})
        file = files.structured_content["files"][0]
        pages = await client.call_tool("read_pages", {"file": file["id"], "pages": "1"})
        check("list and read", ANSWER in pages.structured_content["pages"][0]["text"])
        wrong = await client.call_tool("search", {}, raise_on_error=False)
        check("a tool that fails says so", wrong.is_error)


asyncio.run(main())
