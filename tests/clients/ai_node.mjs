// The Vercel `ai` package with both of its OpenAI providers, as its own documentation uses them.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";
import { ANSWER, QUESTION, check, places, raises } from "./checks.mjs";

const providers = {
  "@ai-sdk/openai": (place, model) => createOpenAI({ baseURL: place.base, apiKey: place.key }).chat(model),
  "@ai-sdk/openai-compatible": (place, model) =>
    createOpenAICompatible({ name: "quire", baseURL: place.base, apiKey: place.key, includeUsage: true }).chatModel(model),
};
const prompt = QUESTION;
const box = places.plain.box;

/** The status behind an error, which may be wrapped by a retry. */
const status = (error) => error.statusCode ?? error.lastError?.statusCode;

for (const [name, chat] of Object.entries(providers)) {
  console.log(` with ${name}`);
  const answer = await generateText({ model: chat(places.plain, box), prompt });
  check("plain", answer.text.includes(ANSWER) && answer.usage.totalTokens > 0);

  const result = streamText({ model: chat(places.plain, box), prompt, onError: () => {} });
  let text = "";
  for await (const part of result.textStream) text += part;
  check("streaming", text.includes(ANSWER));
  check("usage in stream", (await result.usage).totalTokens > 0);

  check("wrong key", await raises(() => generateText({ model: chat(places.wrong_key, box), prompt }), (e) => status(e) === 401));
  check("unknown box", await raises(
    () => generateText({ model: chat(places.plain, places.unknown_box), prompt }),
    (e) => status(e) === 403,
  ));
  check("quota exhausted", await raises(() => generateText({ model: chat(places.exhausted, box), prompt }), (e) => status(e) === 402));
  for (let at = 0; at < 5; at++) {
    const answer = await generateText({ model: chat(places.limited, places.limited.box), prompt });
    if (!answer.text.includes(ANSWER)) check("rate limited, recovers", false);
  }
  check("rate limited, recovers", true);

  // The SDK hands errors of a stream to the reader of its parts.
  const broken = streamText({ model: chat(places.breaking, places.breaking.box), prompt, onError: () => {} });
  const parts = [];
  for await (const part of broken.fullStream) parts.push(part);
  check("mid-stream failure raises", parts.some((part) => part.type === "error"));
}
console.log("  the SDK lists no models");
