"""langchain-openai, as its own documentation uses it."""

import openai
from langchain_openai import ChatOpenAI

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()


def client(place, model=places.box, **more):
    return ChatOpenAI(base_url=place.base, api_key=place.key, model=model, **more)


api = client(places.plain)
answer = api.invoke(QUESTION)
check("plain", ANSWER in answer.content and answer.usage_metadata["total_tokens"] > 0)

chunks = list(api.stream(QUESTION))
check("streaming", ANSWER in "".join(chunk.content for chunk in chunks))

chunks = list(client(places.plain, stream_usage=True).stream(QUESTION))
whole = chunks[0]
for chunk in chunks[1:]:
    whole += chunk
check("usage in stream", whole.usage_metadata["total_tokens"] > 0)

check("wrong key", raises(lambda: client(places.wrong_key).invoke(QUESTION), openai.AuthenticationError))
check("unknown box", raises(lambda: client(places.plain, places.unknown_box).invoke(QUESTION), openai.PermissionDeniedError))
check("quota exhausted", raises(lambda: client(places.exhausted).invoke(QUESTION), openai.APIStatusError,
                                lambda e: e.status_code == 402))
limited = client(places.limited, places.limited.box)
check("rate limited, recovers", all(ANSWER in limited.invoke(QUESTION).content for _ in range(5)))
check("mid-stream failure raises", raises(lambda: list(client(places.breaking, places.breaking.box).stream(QUESTION)),
                                          openai.APIError))
print("  langchain-openai lists no models")
