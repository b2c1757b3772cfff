"""LiteLLM, which other programs use to talk to any model: chat, responses, embeddings, vector stores and reranking."""

import os

# Prices and models of others, which it would otherwise fetch when it starts.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import openai

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()
root = places.plain.base.removesuffix("/api/public/v1")
server = {"api_base": f"{root}/openai/v1", "api_key": places.manager.key}
asked = {"model": f"openai/{places.box}", "messages": [{"role": "user", "content": QUESTION}]}

answer = litellm.completion(**asked, **server)
check("chat", ANSWER in answer.choices[0].message.content and answer.usage.total_tokens > 0)
pieces = [piece.choices[0].delta.content or "" for piece in litellm.completion(**asked, **server, stream=True)]
check("streamed chat", len(pieces) > 1 and ANSWER in "".join(pieces))
wrong = server | {"api_key": places.wrong_key.key}
check("wrong key", raises(lambda: litellm.completion(**asked, **wrong), litellm.AuthenticationError))
poor = server | {"api_key": places.exhausted.key}
check("no units left", raises(lambda: litellm.completion(**asked, **poor, max_retries=0), openai.OpenAIError))

tool = {"type": "file_search", "vector_store_ids": [places.box]}
answer = litellm.responses(model="openai/quire", input=QUESTION, tools=[tool], **server)
message = next(item for item in answer.output if item.type == "message")
check("response", ANSWER in message.content[0].text and message.content[0].annotations[0].type == "file_citation")

vectors = litellm.embedding(model="openai/quire", input=["one", "two"], encoding_format="float", **server)
check("embeddings", len(vectors.data) == 2 and len(vectors.data[0]["embedding"]) > 100)

store = litellm.vector_stores.create(name="Manuals", custom_llm_provider="openai", **server)
check("create store", store["name"] == "Manuals")
deleted = openai.OpenAI(base_url=server["api_base"], api_key=server["api_key"]).vector_stores.delete(store["id"])
check("nothing is left for the next client", deleted.deleted)
found = litellm.vector_stores.search(vector_store_id=places.box, query=QUESTION, custom_llm_provider="openai", **server)
check("search", ANSWER in found["data"][0]["content"][0]["text"])

ranked = litellm.rerank(model="cohere/quire", query=QUESTION, documents=["Boats are blue.", "The warranty lasts two years."],
                        api_base=f"{places.plain.base}/rerank", api_key=places.plain.key)
check("rerank", ranked.results[0]["index"] == 1)
