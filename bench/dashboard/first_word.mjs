// Asks the same questions over the API and in a page, by turns; prints after how many milliseconds each had its first word.

import { request } from "node:https";
import { chromium } from "@playwright/test";

const { QUIRE_ADDRESS: address, QUIRE_KEY: key, QUIRE_BOX: box, QUIRE_COOKIES, QUIRE_TIMES, CHROMIUM } = process.env;

/** Milliseconds until the first event with a word, over a new connection each time. */
const asked = (question) => new Promise((resolve, reject) => {
  const began = performance.now();
  const call = request(`${address}/api/public/v1/chat/completions`, {
    method: "POST", rejectUnauthorized: false, headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` },
  }, (response) => {
    let said = "", first = null;
    response.on("data", (data) => {
      said += data;
      if (first === null && /"content":"[^"]/.test(said)) first = performance.now() - began;
    });
    response.on("end", () => first === null ? reject(new Error(`no word: ${said.slice(0, 300)}`)) : resolve(first));
  });
  call.on("error", reject);
  call.end(JSON.stringify({ model: box, stream: true, messages: [{ role: "user", content: question }] }));
});

/** The same in a page: from the Enter key to the frame that shows a word. */
const shown = async (page, question) => {
  await page.goto(`${address}/boxes/${box}/chat`);
  await page.getByLabel("Your question").fill(question);
  await page.evaluate(() => {
    window.firstWord = new Promise((resolve) => {
      addEventListener("keydown", (event) => { if (event.key === "Enter") window.pressed = performance.now(); }, { capture: true, once: true });
      const watching = new MutationObserver(() => {
        if (!document.querySelector(".turn.answer")?.textContent) return;
        watching.disconnect();
        requestAnimationFrame(() => resolve(performance.now() - window.pressed));
      });
      watching.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
  });
  await page.keyboard.press("Enter");
  const first = await page.evaluate(() => window.firstWord);
  await page.locator(".turn.answer:not(.waiting)").waitFor();
  return first;
};

const browser = await chromium.launch({ executablePath: CHROMIUM, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const context = await browser.newContext({ ignoreHTTPSErrors: true });
await context.addCookies(Object.entries(JSON.parse(QUIRE_COOKIES)).map(([name, value]) => ({ name, value, url: address, secure: true })));
const page = await context.newPage();
const times = { program: [], page: [] };
for (let at = 0; at <= Number(QUIRE_TIMES); at += 1) {
  const question = `How long does the warranty of machine ${at} last?`;
  const [program, seen] = [await asked(question), await shown(page, question)];
  // The first one warms up both.
  if (at > 0) { times.program.push(program); times.page.push(seen); }
}
await browser.close();
console.log(JSON.stringify(times));
