// Verifies events that are handed in as JSON lines, {secret, headers, body}, with two packages from their registry; a forged one must fail.
import { createInterface } from "node:readline";
import OpenAI from "openai";
import { Webhook } from "standardwebhooks";

const openai = new OpenAI({ apiKey: "none" });
const verifiers = {
  standardwebhooks: ({ secret, headers, body }) => new Webhook(secret).verify(body, headers),
  openai: ({ secret, headers, body }) => openai.webhooks.verifySignature(body, headers, secret),
};
let events = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const event = JSON.parse(line);
  for (const [name, verify] of Object.entries(verifiers)) {
    await verify(event);
    const forged = { ...event, body: event.body.replace("file.", "life.") };
    const refused = await Promise.resolve().then(() => verify(forged)).then(() => false, () => true);
    if (!refused) throw new Error(`${name} takes a forged event`);
  }
  events += 1;
}
console.log(`${events} events verified by ${Object.keys(verifiers).join(" and ")} for Node`);
