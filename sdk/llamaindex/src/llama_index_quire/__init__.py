"""A LlamaIndex retriever for documents in quire."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from quire import AsyncQuire, Hit, Quire

__all__ = ["QuireRetriever"]


class QuireRetriever(BaseRetriever):
    """Finds passages in one or several boxes."""

    def __init__(self, box: Union[str, Sequence[str]], top_k: int = 10, options: Optional[Mapping[str, Any]] = None,
                 url: Optional[str] = None, api_key: Optional[str] = None, ca: Optional[str] = None, **more: Any):
        self._box = box
        self._wanted: Dict[str, Any] = {**(options or {}), "top_k": top_k}
        self._settings = {"url": url, "api_key": api_key, "ca": ca}
        self._waiting: Optional[Quire] = None
        super().__init__(**more)

    def _retrieve(self, query_bundle: QueryBundle) -> List[NodeWithScore]:
        if self._waiting is None:
            self._waiting = Quire(**self._settings)
        return [_node(hit) for hit in self._waiting.search(self._box, query_bundle.query_str, **self._wanted).hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> List[NodeWithScore]:
        # A connection belongs to one event loop, and a retriever may be used in many.
        async with AsyncQuire(**self._settings) as quire:
            return [_node(hit) for hit in (await quire.search(self._box, query_bundle.query_str, **self._wanted)).hits]


def _node(hit: Hit) -> NodeWithScore:
    metadata = {**hit.metadata, "file_id": hit.file_id, "file_name": hit.file_name, "page": hit.page, "section": hit.section,
                "link": hit.link}
    return NodeWithScore(node=TextNode(id_=hit.id, text=hit.text, metadata=metadata), score=hit.score)
