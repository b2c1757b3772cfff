"""What the server answers, as objects. Each keeps what was sent in `raw`, so that new fields are never out of reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

Raw = Dict[str, Any]


@dataclass(frozen=True)
class Usage:
    """What a call cost, and what is left."""
    consumed: int
    remaining: Optional[int]
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Usage":
        return cls(raw.get("intelligence_units_consumed", 0), raw.get("intelligence_units_remaining"), raw)


@dataclass(frozen=True)
class Box:
    id: str
    name: str
    role: Optional[str]
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Box":
        return cls(raw["boxId"], raw["name"], raw.get("role"), raw)


@dataclass(frozen=True)
class File:
    id: str
    box_id: str
    name: str
    status: str
    media_type: str
    size: int
    sha256: str
    pages: int
    tags: List[str]
    metadata: Dict[str, Any]
    external_id: Optional[str]
    error: Optional[str]
    warnings: List[str]
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "File":
        return cls(raw["fileId"], raw["boxId"], raw["name"], raw["status"], raw["mediaType"], raw["storageSize"], raw["sha256"],
                   raw["pages"], raw.get("tags") or [], raw.get("metadata") or {}, raw.get("externalId"), raw.get("error"),
                   raw.get("warnings") or [], raw)

    @property
    def is_done(self) -> bool:
        """Whether it has been processed, well or not."""
        return self.status not in ("queued", "processing")


@dataclass(frozen=True)
class Receipt:
    """What a deletion removed."""
    id: str
    removed: Dict[str, int]
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Receipt":
        return cls(raw.get("fileId") or raw.get("boxId") or "", raw.get("removed") or {}, raw)


@dataclass(frozen=True)
class Hit:
    """A passage that was found."""
    id: str
    score: float
    text: str
    file_id: str
    file_name: str
    page: int
    section: List[str]
    metadata: Dict[str, Any]
    link: str
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Hit":
        return cls(raw["id"], raw["score"], raw["text"], raw["fileId"], raw["fileName"], raw["page"], raw.get("section") or [],
                   raw.get("metadata") or {}, raw["link"], raw)


@dataclass(frozen=True)
class SearchResult:
    query: str
    hits: List[Hit]
    usage: Usage
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "SearchResult":
        first = raw["documents"][0]
        return cls(first["query"], [Hit.of(hit) for hit in first["documents"]], Usage.of(raw["usage"]), raw)


@dataclass(frozen=True)
class Page:
    number: int
    text: str
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Page":
        return cls(raw["page"], raw["text"], raw)


@dataclass(frozen=True)
class Document:
    file_id: str
    file_name: str
    pages: List[Page]
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Document":
        return cls(raw["fileId"], raw["fileName"], [Page.of(page) for page in raw["pages"]], raw)


@dataclass(frozen=True)
class Citation:
    """A quote that stands in a document."""
    index: int
    file_id: str
    file_name: str
    page: int
    quote: str
    score: float
    url: str
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Citation":
        return cls(raw["index"], raw["fileId"], raw["fileName"], raw["page"], raw["quote"], raw["score"], raw["url"], raw)


@dataclass(frozen=True)
class Answer:
    id: str
    text: str
    citations: List[Citation]
    usage: Usage
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Answer":
        citations = [Citation.of(citation) for citation in raw.get("citations") or []]
        return cls(raw["id"], raw["choices"][0]["message"]["content"], citations, Usage.of(raw["usage"]), raw)


@dataclass(frozen=True)
class Question:
    """A question that the documents did not answer well."""
    id: str
    question: str
    outcome: str
    score: Optional[float]
    rating: Optional[int]
    comment: Optional[str]
    count: int
    raw: Raw = field(repr=False)

    @classmethod
    def of(cls, raw: Raw) -> "Question":
        return cls(raw["id"], raw["question"], raw["outcome"], raw.get("score"), raw.get("rating"), raw.get("comment"),
                   raw["count"], raw)
