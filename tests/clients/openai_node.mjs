// The openai package, as its own documentation uses it.
import OpenAI from "openai";
import { ANSWER, QUESTION, check, places, raises } from "./checks.mjs";

const messages = [{ role: "user", content: QUESTION }];
const client = (place) => new OpenAI({ baseURL: place.base, apiKey: place.key });
const model = places.plain.box;
const api = client(places.plain);

const answer = await api.chat.completions.create({ model, messages });
check("plain", answer.choices[0].message.content.includes(ANSWER) && answer.usage.total_tokens > 0);
check("citations", answer.citations[0].verified === true);

const collect = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};
let chunks = await collect(await api.chat.completions.create({ model, messages, stream: true }));
check("streaming", chunks.map((c) => c.choices[0]?.delta?.content ?? "").join("").includes(ANSWER));

chunks = await collect(
  await api.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } }),
);
check("usage in stream", chunks.at(-1).usage.total_tokens > 0);

check("wrong key", await raises(() => client(places.wrong_key).models.list(), (e) => e instanceof OpenAI.AuthenticationError));
check("unknown box", await raises(
  () => api.chat.completions.create({ model: places.unknown_box, messages }),
  (e) => e instanceof OpenAI.PermissionDeniedError,
));
check("quota exhausted", await raises(
  () => client(places.exhausted).chat.completions.create({ model, messages }),
  (e) => e.status === 402 && e.code === "B3107",
));
const limited = client(places.limited);
for (let at = 0; at < 5; at++) {
  const answer = await limited.chat.completions.create({ model: places.limited.box, messages });
  if (!answer.choices[0].message.content.includes(ANSWER)) check("rate limited, recovers", false);
}
check("rate limited, recovers", true);
check("mid-stream failure raises", await raises(
  async () => collect(await client(places.breaking).chat.completions.create({ model: places.breaking.box, messages, stream: true })),
  (e) => e instanceof OpenAI.APIError,
));
const models = await collect(await api.models.list());
check("model listing", models.length === 1 && models[0].id === model && (await api.models.retrieve(model)).id === model);
