"""The client that waits."""

from __future__ import annotations

import json
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union

import httpx

from . import _calls as calls
from ._calls import Call, Content, Place
from ._errors import QuireError, error_of, unreachable, wait_before_retry
from ._objects import Answer, Box, Document, File, Question, Receipt, SearchResult

T = TypeVar("T")


class Quire:
    """A quire server. Settings that are not given come from QUIRE_URL, QUIRE_API_KEY and QUIRE_CA."""

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, ca: Optional[str] = None,
                 timeout: float = 120.0, max_retries: int = 4):
        self._place = Place.of(url, api_key, ca, timeout, max_retries)
        self._http = httpx.Client(**self._place.arguments())

    def with_ca(self, ca: str) -> "Quire":
        """The same server, trusted by this certificate."""
        place = self._place
        return Quire(place.url, place.api_key, ca, place.timeout, place.max_retries)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> "Quire":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def check(self) -> Dict[str, Any]:
        """Whether the key works; also the version, the limits and the units."""
        return self._send(calls.check())

    def usage(self, month: Optional[str] = None) -> Dict[str, Any]:
        """The units of a month such as 2026-11, or of this one."""
        return self._send(calls.usage(month))

    def boxes(self) -> List[Box]:
        return self._send(calls.boxes())

    def create_box(self, name: str) -> Box:
        return self._send(calls.create_box(name))

    def delete_box(self, box_id: str) -> Receipt:
        return self._send(calls.delete_box(box_id))

    def files(self, box_id: str, **filters: Any) -> Iterator[File]:
        """Every file of a box, page after page; `status=`, `tags=`, `query=` and `sort=` as the API has them."""
        cursor: Optional[str] = None
        while True:
            page, cursor = self._send(calls.files(box_id, cursor, **filters))
            yield from page
            if not cursor:
                return

    def file(self, file_id: str) -> File:
        return self._send(calls.file(file_id))

    def upload(self, box_id: str, content: Content, name: Optional[str] = None, metadata: Optional[Mapping[str, Any]] = None,
               tags: Optional[Sequence[str]] = None, external_id: Optional[str] = None) -> File:
        """Uploads a file by its path, or bytes with a name. The same `external_id` again replaces the content."""
        return self._send(calls.upload(box_id, content, name, metadata, tags, external_id))

    def wait(self, file_id: str, timeout: float = 600.0) -> File:
        """Waits until a file has been processed, well or not."""
        end = time.monotonic() + timeout
        while True:
            file = self.file(file_id)
            if file.is_done:
                return file
            if time.monotonic() > end:
                raise TimeoutError(f"{file.name} is still {file.status} after {timeout:g} s")
            time.sleep(1.0)

    def change_file(self, file_id: str, **changes: Any) -> File:
        """Changes `name`, `externalId`, `tags` or `metadata`."""
        return self._send(calls.change_file(file_id, changes))

    def delete_file(self, file_id: str) -> Receipt:
        return self._send(calls.delete_file(file_id))

    def search(self, box: Union[str, Sequence[str]], query: str, **options: Any) -> SearchResult:
        """Searches a box, or several: `top_k=`, `threshold=`, `filter=`, `mode=`, `max_units=` and so on."""
        return self._send(calls.search(box, query, options))

    def documents(self, box_id: str, sources: Sequence[str], pages: Optional[str] = None) -> List[Document]:
        """Whole documents, or some pages of them, such as "1-3,7"."""
        return self._send(calls.documents(box_id, sources, pages))

    def ask(self, box_id: str, question: Union[str, Sequence[Mapping[str, str]]], **options: Any) -> Answer:
        """Answers a question, or the last one of a conversation, from the documents of a box."""
        return self._send(calls.chat(box_id, question, options))

    def stream(self, box_id: str, question: Union[str, Sequence[Mapping[str, str]]], **options: Any) -> Iterator[str]:
        """The same piece by piece, as it is made."""
        call = calls.chat(box_id, question, {**options, "stream": True})
        response = self._respond(call, stream=True)
        try:
            for line in response.iter_lines():
                piece = delta(line)
                if piece:
                    yield piece
        except httpx.TransportError as cause:
            raise unreachable(cause) from cause
        finally:
            response.close()

    def rate(self, answer_id: str, rating: int, comment: Optional[str] = None) -> None:
        """Says whether an answer helped: 1 or -1."""
        self._send(calls.rate(answer_id, rating, comment))

    def questions(self, box_id: str, **filters: Any) -> Iterator[Question]:
        """Questions that a box did not answer well; `outcome=` and `since=` as the API has them."""
        cursor: Optional[str] = None
        while True:
            page, cursor = self._send(calls.questions(box_id, cursor, **filters))
            yield from page
            if not cursor:
                return

    def _send(self, call: Call[T]) -> T:
        return call.answer(self._respond(call).json())

    def _respond(self, call: Call[Any], stream: bool = False) -> httpx.Response:
        tries = 0
        while True:
            response: Optional[httpx.Response] = None
            try:
                request = self._http.build_request(call.method, call.path, **call.arguments())
                response = self._http.send(request, stream=stream)
                if response.is_success:
                    return response
                response.read()
                failure: QuireError = error_of(response)
            except httpx.TransportError as cause:
                failure = unreachable(cause)
            wait = wait_before_retry(response, tries)
            if wait is None or tries >= self._place.max_retries:
                raise failure
            tries += 1
            time.sleep(wait)


def delta(line: str) -> Optional[str]:
    """The text of one frame of a stream; nothing where it has none."""
    if not line.startswith("data: ") or line == "data: [DONE]":
        return None
    frame = json.loads(line[len("data: "):])
    if frame.get("success") is False:
        raise QuireError(200, frame["error"])
    choices = frame.get("choices") or [{}]
    return (choices[0].get("delta") or {}).get("content")
