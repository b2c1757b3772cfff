"""LlamaIndex's OpenAILike, as its own documentation uses it."""

import openai
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()
messages = [ChatMessage(role="user", content=QUESTION)]


def client(place, model=places.box, **more):
    return OpenAILike(api_base=place.base, api_key=place.key, model=model, is_chat_model=True, context_window=8000, **more)


api = client(places.plain)
answer = api.chat(messages)
check("plain", ANSWER in answer.message.content and answer.raw.usage.total_tokens > 0)

chunks = list(api.stream_chat(messages))
check("streaming", ANSWER in chunks[-1].message.content)

chunks = list(client(places.plain, additional_kwargs={"stream_options": {"include_usage": True}}).stream_chat(messages))
check("usage in stream", any(chunk.raw.usage and chunk.raw.usage.total_tokens > 0 for chunk in chunks))

check("wrong key", raises(lambda: client(places.wrong_key).chat(messages), openai.AuthenticationError))
check("unknown box", raises(lambda: client(places.plain, places.unknown_box).chat(messages), openai.PermissionDeniedError))
check("quota exhausted", raises(lambda: client(places.exhausted).chat(messages), openai.APIStatusError,
                                lambda e: e.status_code == 402))
limited = client(places.limited, places.limited.box)
check("rate limited, recovers", all(ANSWER in limited.chat(messages).message.content for _ in range(5)))
check("mid-stream failure raises", raises(
    lambda: list(client(places.breaking, places.breaking.box).stream_chat(messages)), openai.APIError))
print("  OpenAILike lists no models")
