"""LangChain's own tests of retrievers, for langchain-quire; run by pytest."""

import os

from checks import QUESTION, Places
from langchain_quire import QuireRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

places = Places()


class TestQuireRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return QuireRetriever

    @property
    def retriever_constructor_params(self):
        place = places.plain
        return {"box": place.box, "url": place.base, "api_key": place.key, "ca": os.environ["SSL_CERT_FILE"]}

    @property
    def retriever_query_example(self):
        return QUESTION
