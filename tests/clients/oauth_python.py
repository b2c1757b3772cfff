"""The mcp package's own OAuth client, which knows nothing but the address of /mcp; a person with a browser lets it in."""

import asyncio
import html
import logging
import os
import re
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from checks import ANSWER, QUESTION, Places, check

place = Places().plain
root = place.base.removesuffix("/api/public/v1")
BACK = "http://127.0.0.1:61234/back"
DOCUMENT = os.environ["QUIRE_CLIENT_DOCUMENT"]


class Storage:
    """Keeps what a client keeps between runs."""

    def __init__(self):
        self.tokens = self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Person:
    """Signs in, reads the page and decides; never follows a redirect elsewhere."""

    def __init__(self, decision):
        self.decision, self.asked, self.page, self.answer = decision, 0, "", {}

    async def redirected(self, address):
        self.asked += 1
        async with httpx2.AsyncClient(follow_redirects=True, timeout=60) as browser:
            page = await browser.get(address)
            if "/sign-in" in str(page.url):
                fields = dict(self.fields(page.text), email="ada@example.org", password=os.environ["QUIRE_PASSWORD"])
                page = await browser.post(f"{root}/sign-in", data=fields)
            self.page = page.text
            check("the person is asked", page.status_code == 200 and "Let it in" in page.text)
            fields = dict(self.fields(page.text), decision=self.decision)
            page = await browser.post(f"{root}/oauth/authorize", data=fields)
            target = page.headers["refresh"].removeprefix("0;url=")
        check("sent back to the program", target.startswith(BACK))
        self.answer = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}

    @staticmethod
    def fields(page):
        form = page[page.rindex('<form method="post"'):]
        found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
        return {html.unescape(name): html.unescape(value) for name, value in found}

    async def came_back(self):
        answer = self.answer
        return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))


def connect(address, storage, person, document=None, **options):
    """A client, and its way in."""
    metadata = OAuthClientMetadata(client_name="A desk", redirect_uris=[BACK], grant_types=["authorization_code", "refresh_token"])
    way_in = OAuthClientProvider(address, metadata, storage, person.redirected, person.came_back, client_metadata_url=document)
    http = httpx2.AsyncClient(auth=way_in, timeout=60)
    return Client(streamable_http_client(address, http_client=http), **options), way_in


async def search(client):
    found = await client.call_tool("search", {"query": QUESTION})
    first = found.structured_content["results"][0]
    fetched = await client.call_tool("fetch", {"id": first["id"]})
    return ANSWER in first["text"] and ANSWER in fetched.structured_content["text"]


async def main():
    for name, address, options in (("all boxes, 2026", f"{root}/mcp", {}), ("all boxes, 2025", f"{root}/mcp", {"mode": "legacy"}),
                                   ("one box", f"{place.base}/boxes/{place.box}/mcp", {})):
        storage, person = Storage(), Person("allow")
        client, way_in = connect(address, storage, person, **options)
        async with client:
            check(f"{name}: let in once, then search and fetch", await search(client) and person.asked == 1)
            first, way_in.context.token_expiry_time = storage.tokens, 1
            renewed = await search(client) and storage.tokens.access_token != first.access_token
            check(f"{name}: tokens are renewed without asking again", renewed and person.asked == 1)
            check(f"{name}: so is what renews them", storage.tokens.refresh_token != first.refresh_token)
        check(f"{name}: the page says who asks and where one is sent", "A desk" in person.page and BACK in person.page)
    storage, person = Storage(), Person("allow")
    client, _ = connect(f"{root}/mcp", storage, person, DOCUMENT)
    async with client:
        check("a program that is known by a document", await search(client) and storage.client.client_id == DOCUMENT)
    check("its name is the document's", "A desk with a document" in person.page)
    # It would log, with a traceback, what is provoked here.
    logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)
    declined = Person("deny")
    client, _ = connect(f"{root}/mcp", Storage(), declined)
    try:
        async with client:
            await client.list_tools()
        check("declined", False)
    except BaseException as error:
        if isinstance(error, SystemExit):
            sys.exit(1)
        check("declined", declined.answer["error"] == "access_denied")


asyncio.run(main())
