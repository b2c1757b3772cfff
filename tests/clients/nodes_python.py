"""llama-index-quire, built from sdk/llamaindex: passages as LlamaIndex has them, waited for or not."""

import asyncio
import os

from checks import ANSWER, QUESTION, Places, check
from llama_index_quire import QuireRetriever

place = Places().plain
retriever = QuireRetriever(box=place.box, top_k=1, url=place.base, api_key=place.key, ca=os.environ["SSL_CERT_FILE"])
found = retriever.retrieve(QUESTION)
check("retrieve", len(found) == 1 and ANSWER in found[0].node.get_content() and found[0].score > 0)
check("metadata", found[0].node.metadata["file_name"] == "warranty.md" and found[0].node.metadata["page"] == 1)
again = asyncio.run(retriever.aretrieve(QUESTION))
check("aretrieve", [one.node.id_ for one in again] == [one.node.id_ for one in found])
