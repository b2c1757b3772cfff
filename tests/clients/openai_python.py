"""The openai package, as its own documentation uses it."""

import openai

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()
messages = [{"role": "user", "content": QUESTION}]


def client(place):
    return openai.OpenAI(base_url=place.base, api_key=place.key)


api = client(places.plain)

answer = api.chat.completions.create(model=places.box, messages=messages)
check("plain", ANSWER in answer.choices[0].message.content and answer.usage.total_tokens > 0)
check("citations", answer.model_extra["citations"][0]["verified"] is True)

stream = list(api.chat.completions.create(model=places.box, messages=messages, stream=True))
check("streaming", ANSWER in "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
      and stream[-1].choices[0].finish_reason == "stop")

stream = list(api.chat.completions.create(model=places.box, messages=messages, stream=True,
                                          stream_options={"include_usage": True}))
check("usage in stream", stream[-1].usage.total_tokens > 0 and stream[-1].usage.intelligence_units_consumed >= 1)

extra = api.chat.completions.create(model=places.box, messages=messages, extra_body={"dry_run": True})
check("extra body", extra.usage.estimate["min"] == 1)

check("wrong key", raises(lambda: client(places.wrong_key).models.list(), openai.AuthenticationError))
check("unknown box", raises(lambda: api.chat.completions.create(model=places.unknown_box, messages=messages),
                            openai.PermissionDeniedError))


def quota():
    client(places.exhausted).chat.completions.create(model=places.box, messages=messages)


check("quota exhausted", raises(quota, openai.APIStatusError, lambda e: e.status_code == 402 and e.code == "B3107"))

limited = client(places.limited)
check("rate limited, recovers", all(
    ANSWER in limited.chat.completions.create(model=places.limited.box, messages=messages).choices[0].message.content
    for _ in range(5)))


def broken():
    for _ in client(places.breaking).chat.completions.create(model=places.breaking.box, messages=messages, stream=True):
        pass


check("mid-stream failure raises", raises(broken, openai.APIError))
check("model listing", [model.id for model in api.models.list()] == [places.box]
      and api.models.retrieve(places.box).id == places.box)
