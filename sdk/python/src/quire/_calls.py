"""Each operation as a request and what its answer means: what both clients have in common."""

from __future__ import annotations

import json
import os
import pathlib
import ssl
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._objects import (Answer, Box, Document, File, Question, Receipt, SearchResult)

T = TypeVar("T")
BASE = "/api/public/v1"
Content = Union[str, os.PathLike, bytes]


@dataclass
class Call(Generic[T]):
    """A request, before it is sent."""
    method: str
    path: str
    read: Callable[[Any], T]
    json: Optional[Mapping[str, Any]] = None
    params: Dict[str, Any] = field(default_factory=dict)
    form: Optional[Tuple[Dict[str, Any], Dict[str, Any]]] = None
    # Whether the answer is the object itself, not in `data`.
    whole: bool = False

    def __post_init__(self) -> None:
        # The same for every try, so that a request whose answer was lost is not done twice.
        self.headers = {"Idempotency-Key": str(uuid.uuid4())} if self.method == "POST" else {}

    def arguments(self) -> Dict[str, Any]:
        arguments: Dict[str, Any] = {"headers": self.headers, "params": {k: v for k, v in self.params.items() if v is not None}}
        if self.json is not None:
            arguments["json"] = self.json
        if self.form is not None:
            arguments["files"], arguments["data"] = self.form
        return arguments

    def answer(self, body: Any) -> T:
        return self.read(body if self.whole else body["data"])


@dataclass
class Place:
    """Where the server is, with which key, and how patient to be."""
    url: str
    api_key: str
    ca: Optional[str]
    timeout: float
    max_retries: int

    @classmethod
    def of(cls, url: Optional[str], api_key: Optional[str], ca: Optional[str], timeout: float, max_retries: int) -> "Place":
        url = (url or os.environ.get("QUIRE_URL") or "https://127.0.0.1:8443").strip().rstrip("/")
        url = url[: -len(BASE)] if url.endswith(BASE) else url
        key = api_key or os.environ.get("QUIRE_API_KEY")
        if not key:
            raise ValueError("no API key: pass api_key= or set QUIRE_API_KEY")
        if not url.startswith("https://"):
            raise ValueError("quire is reached over https:// only")
        return cls(url, key, ca or os.environ.get("QUIRE_CA"), timeout, max_retries)

    def arguments(self) -> Dict[str, Any]:
        """What an httpx client is made with."""
        trust: Any = ssl.create_default_context(cafile=self.ca) if self.ca else True
        headers = {"Authorization": f"Bearer {self.api_key}", "User-Agent": "quire-sdk-python/0.1.0"}
        return {"base_url": self.url + BASE, "headers": headers, "timeout": self.timeout, "verify": trust}


def _given(**values: Any) -> Dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def check() -> Call[Dict[str, Any]]:
    return Call("GET", "/check", dict)


def usage(month: Optional[str]) -> Call[Dict[str, Any]]:
    return Call("GET", "/usage", dict, params={"month": month})


def boxes() -> Call[List[Box]]:
    return Call("GET", "/boxes", lambda data: [Box.of(box) for box in data["boxes"]])


def create_box(name: str) -> Call[Box]:
    return Call("POST", "/boxes", Box.of, json={"name": name})


def delete_box(box_id: str) -> Call[Receipt]:
    return Call("DELETE", f"/boxes/{box_id}", Receipt.of)


def file(file_id: str) -> Call[File]:
    return Call("GET", f"/files/{file_id}", File.of)


def change_file(file_id: str, changes: Mapping[str, Any]) -> Call[File]:
    return Call("PATCH", f"/files/{file_id}", File.of, json=changes)


def delete_file(file_id: str) -> Call[Receipt]:
    return Call("DELETE", f"/files/{file_id}", Receipt.of)


def files(box_id: str, cursor: Optional[str], **filters: Any) -> Call[Tuple[List[File], Optional[str]]]:
    read = lambda data: ([File.of(one) for one in data["files"]], data["next_cursor"])  # noqa: E731
    return Call("GET", f"/boxes/{box_id}/files", read, params={"limit": 200, "cursor": cursor, **filters})


def questions(box_id: str, cursor: Optional[str], **filters: Any) -> Call[Tuple[List[Question], Optional[str]]]:
    read = lambda data: ([Question.of(one) for one in data["questions"]], data["next_cursor"])  # noqa: E731
    return Call("GET", f"/boxes/{box_id}/questions", read, params={"limit": 200, "cursor": cursor, **filters})


def upload(box_id: str, content: Content, name: Optional[str], metadata: Optional[Mapping[str, Any]],
           tags: Optional[Sequence[str]], external_id: Optional[str]) -> Call[File]:
    if isinstance(content, bytes):
        if not name:
            raise ValueError("bytes need a name=")
        body: bytes = content
    else:
        path = pathlib.Path(content)
        name, body = name or path.name, path.read_bytes()
    fields = _given(externalId=external_id, metadata=json.dumps(dict(metadata)) if metadata is not None else None,
                    tags=json.dumps(list(tags)) if tags is not None else None)
    return Call("POST", f"/boxes/{box_id}/files", File.of, form=({"file": (name, body)}, fields))


def search(box: Union[str, Sequence[str]], query: str, options: Mapping[str, Any]) -> Call[SearchResult]:
    if isinstance(box, str):
        return Call("POST", f"/boxes/{box}/retrieve-documents", SearchResult.of, json={"query": query, **options})
    return Call("POST", "/retrieve-documents", SearchResult.of, json={"boxes": list(box), "query": query, **options})


def documents(box_id: str, sources: Sequence[str], pages: Optional[str]) -> Call[List[Document]]:
    read = lambda data: [Document.of(one) for one in data["documents"]]  # noqa: E731
    body = {"sources": list(sources), **_given(pages=pages)}
    return Call("POST", f"/boxes/{box_id}/retrieve-full-documents", read, json=body)


def chat(box_id: str, question: Union[str, Sequence[Mapping[str, str]]], options: Mapping[str, Any]) -> Call[Answer]:
    messages = [{"role": "user", "content": question}] if isinstance(question, str) else [dict(turn) for turn in question]
    body = {"messages": messages, **options}
    return Call("POST", f"/boxes/{box_id}/chat/completions", Answer.of, json=body, whole=True)


def rate(answer_id: str, rating: int, comment: Optional[str]) -> Call[None]:
    return Call("POST", "/feedback", lambda _: None, json={"id": answer_id, "rating": rating, **_given(comment=comment)})
