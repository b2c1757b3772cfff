"""A LangChain retriever for documents in quire."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr, SecretStr
from quire import AsyncQuire, Hit, Quire

__all__ = ["QuireRetriever"]


class QuireRetriever(BaseRetriever):
    """Finds passages in one or several boxes."""

    box: Union[str, List[str]]
    """The box, or the boxes, by id."""
    k: int = 10
    """The most passages."""
    options: Dict[str, Any] = Field(default_factory=dict)
    """Further parameters of each search, such as `filter` and `threshold`."""
    url: Optional[str] = None
    api_key: Optional[SecretStr] = None
    ca: Optional[str] = None
    _waiting: Optional[Quire] = PrivateAttr(default=None)

    def _settings(self) -> Dict[str, Any]:
        return {"url": self.url, "api_key": self.api_key.get_secret_value() if self.api_key else None, "ca": self.ca}

    def _wanted(self, given: Dict[str, Any]) -> Dict[str, Any]:
        return {**self.options, "top_k": given.get("k", self.k)}

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any) -> List[Document]:
        if self._waiting is None:
            self._waiting = Quire(**self._settings())
        return [_document(hit) for hit in self._waiting.search(self.box, query, **self._wanted(given)).hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> List[Document]:
        # A connection belongs to one event loop, and a retriever may be used in many.
        async with AsyncQuire(**self._settings()) as quire:
            return [_document(hit) for hit in (await quire.search(self.box, query, **self._wanted(given))).hits]


def _document(hit: Hit) -> Document:
    metadata = {"file_id": hit.file_id, "file_name": hit.file_name, "page": hit.page, "section": hit.section, "score": hit.score,
                "link": hit.link, "metadata": hit.metadata}
    return Document(id=hit.id, page_content=hit.text, metadata=metadata)
