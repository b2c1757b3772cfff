"""LiteLLM as a second client of OpenAI's shapes."""

import litellm

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()
root = f"{places.plain.base.removesuffix('/api/public/v1')}/openai/v1"
messages = [{"role": "user", "content": QUESTION}]
litellm.suppress_debug_info = True


def at(key):
    return {"api_base": root, "api_key": key, "max_retries": 0}


def ask(model=places.box, key=places.plain.key, **options):
    return litellm.completion(model=f"openai/{model}", messages=messages, **at(key), **options)


answer = ask()
check("answer", ANSWER in answer.choices[0].message.content and answer.usage.total_tokens > 0)
said = "".join(chunk.choices[0].delta.content or "" for chunk in ask(stream=True) if chunk.choices)
check("streamed answer", ANSWER in said)
vectors = litellm.embedding(model="openai/quire", input=["one", "two"], **at(places.plain.key))
check("embeddings", len(vectors.data) == 2 and abs(sum(x * x for x in vectors.data[0]["embedding"]) - 1) < 1e-3)
found = litellm.vector_stores.search(vector_store_id=places.box, query=QUESTION, custom_llm_provider="openai", **at(places.plain.key))
check("search in a store", ANSWER in found["data"][0]["content"][0]["text"])
answer = litellm.responses(model="openai/quire", input=QUESTION, tools=[{"type": "file_search", "vector_store_ids": [places.box]}],
                           **at(places.plain.key))
check("response with file search", ANSWER in answer.output[-1].content[0].text and answer.output[-1].content[0].annotations)
check("wrong key", raises(lambda: ask(key=places.wrong_key.key), litellm.AuthenticationError))
