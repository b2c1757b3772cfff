"""langchain-quire, built from sdk/langchain: LangChain's own suite of tests, and what a document carries."""

import os
import pathlib
import subprocess
import sys

from checks import ANSWER, QUESTION, Places, check
from langchain_quire import QuireRetriever
from quire import Quire

place = Places().manager
ca = os.environ["SSL_CERT_FILE"]
quire = Quire(place.base, place.key, ca=ca)
# The suite asks for three passages.
for number, text in enumerate(["Shipping takes a week.", "The machine is blue.", "The manual has nine chapters."]):
    quire.wait(quire.upload(place.box, f"# Chapter {number}\n\n{text}\n".encode(), name=f"{number}.md").id)

retriever = QuireRetriever(box=place.box, url=place.base, api_key=place.key, ca=ca, k=2, options={"threshold": 0})
documents = retriever.invoke(QUESTION)
check("documents", len(documents) == 2 and ANSWER in documents[0].page_content)
check("metadata", documents[0].metadata["file_name"] == "warranty.md" and documents[0].metadata["page"] == 1)
check("the key is not shown", place.key not in repr(retriever))
suite = pathlib.Path(__file__).resolve().parent / "langchain_quire_suite.py"
ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", str(suite)], cwd=suite.parent)
check("langchain-tests", ran.returncode == 0)
