"""The client for asynchronous programs: the same as `Quire`, with `await`."""

from __future__ import annotations

import asyncio
import time
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, TypeVar, Union

import httpx

from . import _calls as calls
from ._calls import Call, Content, Place
from ._client import delta
from ._errors import QuireError, error_of, unreachable, wait_before_retry
from ._objects import Answer, Box, Document, File, Question, Receipt, SearchResult

T = TypeVar("T")


class AsyncQuire:
    """A quire server. Settings that are not given come from QUIRE_URL, QUIRE_API_KEY and QUIRE_CA."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, ca: Optional[str] = None,
                 timeout: float = 120.0, max_retries: int = 4):
        self._place = Place.of(url, api_key, ca, timeout, max_retries)
        self._http = httpx.AsyncClient(**self._place.arguments())

    def with_ca(self, ca: str) -> "AsyncQuire":
        """The same server, trusted by this certificate."""
        place = self._place
        return AsyncQuire(place.url, place.api_key, ca, place.timeout, place.max_retries)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncQuire":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def check(self) -> Dict[str, Any]:
        """Whether the key works; also the version, the limits and the units."""
        return await self._send(calls.check())

    async def usage(self, month: Optional[str] = None) -> Dict[str, Any]:
        """The units of a month such as 2026-11, or of this one."""
        return await self._send(calls.usage(month))

    async def boxes(self) -> List[Box]:
        return await self._send(calls.boxes())

    async def create_box(self, name: str) -> Box:
        return await self._send(calls.create_box(name))

    async def delete_box(self, box_id: str) -> Receipt:
        return await self._send(calls.delete_box(box_id))

    async def files(self, box_id: str, **filters: Any) -> AsyncIterator[File]:
        """Every file of a box, page after page; `status=`, `tags=`, `query=` and `sort=` as the API has them."""
        cursor: Optional[str] = None
        while True:
            page, cursor = await self._send(calls.files(box_id, cursor, **filters))
            for one in page:
                yield one
            if not cursor:
                return

    async def file(self, file_id: str) -> File:
        return await self._send(calls.file(file_id))

    async def upload(self, box_id: str, content: Content, name: Optional[str] = None, metadata: Optional[Mapping[str, Any]] = None,
               tags: Optional[Sequence[str]] = None, external_id: Optional[str] = None) -> File:
        """Uploads a file by its path, or bytes with a name. The same `external_id` again replaces the content."""
        return await self._send(calls.upload(box_id, content, name, metadata, tags, external_id))

    async def wait(self, file_id: str, timeout: float = 600.0) -> File:
        """Waits until a file has been processed, well or not."""
        end = time.monotonic() + timeout
        while True:
            file = await self.file(file_id)
            if file.is_done:
                return file
            if time.monotonic() > end:
                raise TimeoutError(f"{file.name} is still {file.status} after {timeout:g} s")
            await asyncio.sleep(1.0)

    async def change_file(self, file_id: str, **changes: Any) -> File:
        """Changes `name`, `externalId`, `tags` or `metadata`."""
        return await self._send(calls.change_file(file_id, changes))

    async def delete_file(self, file_id: str) -> Receipt:
        return await self._send(calls.delete_file(file_id))

    async def search(self, box: Union[str, Sequence[str]], query: str, **options: Any) -> SearchResult:
        """Searches a box, or several: `top_k=`, `threshold=`, `filter=`, `mode=`, `max_units=` and so on."""
        return await self._send(calls.search(box, query, options))

    async def documents(self, box_id: str, sources: Sequence[str], pages: Optional[str] = None) -> List[Document]:
        """Whole documents, or some pages of them, such as "1-3,7"."""
        return await self._send(calls.documents(box_id, sources, pages))

    async def ask(self, box_id: str, question: Union[str, Sequence[Mapping[str, str]]], **options: Any) -> Answer:
        """Answers a question, or the last one of a conversation, from the documents of a box."""
        return await self._send(calls.chat(box_id, question, options))

    async def stream(self, box_id: str, question: Union[str, Sequence[Mapping[str, str]]], **options: Any) -> AsyncIterator[str]:
        """The same piece by piece, as it is made."""
        call = calls.chat(box_id, question, {**options, "stream": True})
        response = await self._respond(call, stream=True)
        try:
            async for line in response.aiter_lines():
                piece = delta(line)
                if piece:
                    yield piece
        except httpx.TransportError as cause:
            raise unreachable(cause) from cause
        finally:
            await response.aclose()

    async def rate(self, answer_id: str, rating: int, comment: Optional[str] = None) -> None:
        """Says whether an answer helped: 1 or -1."""
        await self._send(calls.rate(answer_id, rating, comment))

    async def questions(self, box_id: str, **filters: Any) -> AsyncIterator[Question]:
        """Questions that a box did not answer well; `outcome=` and `since=` as the API has them."""
        cursor: Optional[str] = None
        while True:
            page, cursor = await self._send(calls.questions(box_id, cursor, **filters))
            for one in page:
                yield one
            if not cursor:
                return

    async def _send(self, call: Call[T]) -> T:
        return call.answer((await self._respond(call)).json())

    async def _respond(self, call: Call[Any], stream: bool = False) -> httpx.Response:
        tries = 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                request = self._http.build_request(call.method, call.path, **call.arguments())
                response = await self._http.send(request, stream=stream)
                if response.is_success:
                    return response
                await response.aread()
                failure: QuireError = error_of(response)
            except httpx.TransportError as cause:
                failure = unreachable(cause)
            wait = wait_before_retry(response, tries)
            if wait is None or tries >= self._place.max_retries:
                raise failure
            tries += 1
            await asyncio.sleep(wait)
