// The chat on pages of other web sites.

import http from "node:http";
import { another, expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

const QUIRE = process.env.QUIRE_ADDRESS;

/** Another web site, with one page and a strict policy; what is in `parts` is on the page. */
async function site(parts) {
  const server = http.createServer((_, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Content-Security-Policy", `default-src 'none'; script-src ${QUIRE}; connect-src ${QUIRE}`);
    response.end(`<!doctype html><html lang="en"><head><title>Elsewhere</title><meta name="viewport" content="width=device-width"></head>
      <body><main><h1>Elsewhere</h1><p><a href="#more">More</a></p></main>${parts.join("")}</body></html>`);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { origin: `http://127.0.0.1:${server.address().port}`, end: () => server.close() };
}

async function ask(page, question) {
  const answers = page.locator("[role=log] > .turn:not(.mine)");
  const before = await answers.count();
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
  await expect(answers).toHaveCount(before + 1);
  const answer = answers.nth(before);
  await expect(answer).not.toHaveAttribute("aria-busy");
  return answer;
}

test("a chat widget on the site that its key names answers from the box, and on another site it gets nothing", async ({ browser, tag }, info) => {
  const parts = [];
  const [named, other] = [await site(parts), await site(parts)];
  info.allowed = [named.origin, other.origin];
  const page = await newcomer(browser, info, `widget-${tag}@example.org`);
  const box = (await makeBox(page, "Manuals")).split("/boxes/")[1];
  await upload(page, [samples("warranty.md")]);

  // A key for pages of the site, and the tag to put there.
  await page.goto("/account/keys");
  await page.getByLabel("Name").fill("our site");
  await page.getByLabel("only these:").check();
  await page.getByLabel("Manuals").check();
  await page.getByLabel("Web sites whose pages may use it").fill(named.origin);
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByRole("alert")).toContainText("can only search");
  for (const more of ["read", "write"]) await page.getByRole("checkbox", { name: new RegExp(`^${more} `) }).uncheck();
  await page.getByLabel("Web sites whose pages may use it").fill(`${named.origin}/docs`);
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.getByRole("alert")).toContainText("is not an origin");
  await page.getByLabel("Web sites whose pages may use it").fill(named.origin);
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("#fresh-key").textContent();
  await expect(page.getByRole("row", { name: /our site/ })).toContainText(`on pages of ${named.origin}`);
  await looksRight(page, info, "a key for a site");
  await page.goto(`/account/integrations?box=${box}`);
  const shown = await page.getByRole("region", { name: "widget.js" }).locator("pre").textContent();
  expect(shown).toContain(`data-box="${box}"`);
  parts.push(shown.replace("quire_…", key));

  // On the site that the key names.
  const visitor = await another(browser, info);
  await visitor.goto(named.origin);
  const button = visitor.getByRole("button", { name: "Ask our documents" });
  await button.focus();
  await visitor.keyboard.press("Enter");
  const panel = visitor.getByRole("dialog", { name: "Ask our documents" });
  await expect(visitor.getByLabel("Your question")).toBeFocused();
  await looksRight(visitor, info, "the chat on another site");
  const answer = await ask(visitor, "How long does the warranty of the machine last?");
  await expect(answer).toContainText("two years");
  await expect(answer.getByRole("list", { name: "Sources" })).toContainText("[1] warranty.md, page 1");
  await looksRight(visitor, info, "an answer on another site");
  for (let step = 0; step < 8; step += 1) {
    await visitor.keyboard.press("Tab");
    expect(await visitor.evaluate(() => document.activeElement.closest("main"))).toBeNull();
  }
  await visitor.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await expect(button).toBeFocused();
  expect(await visitor.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual(["", 0, 0]);
  expect(await visitor.context().cookies()).toEqual([]);

  // What goes wrong is said in plain words.
  await button.click();
  const refusals = [
    [429, { reason: "rate_limit_key", retry_after: 7 }, "try again in 7 seconds"],
    [402, { reason: "units_exhausted" }, "has used all it may use"],
    [503, { reason: "overloaded" }, "Many questions"],
    [500, { reason: "internal" }, "Something went wrong on the server"],
  ];
  for (const [status, error, words] of refusals) {
    await visitor.route(`${QUIRE}/api/**`, (route) => route.fulfill({ status, json: { success: false, error }, headers: { "Access-Control-Allow-Origin": named.origin } }));
    await expect(await ask(visitor, "Is it covered?")).toContainText(words);
    await visitor.unroute(`${QUIRE}/api/**`);
  }

  // Markup in an answer stays text.
  const markup = 'A <img src="x" onerror="document.title = 1"> and **bold** [link](javascript:alert(1)) [1]';
  const frame = { choices: [{ delta: { content: markup }, finish_reason: "stop" }], citations: [{ index: 1, fileName: "<b>a</b>.md", page: 2, quote: "<i>" }] };
  await visitor.route(`${QUIRE}/api/**`, (route) => route.fulfill({ body: `data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`, headers: { "Access-Control-Allow-Origin": named.origin } }));
  const plain = await ask(visitor, "Is it safe?");
  await expect(plain).toContainText('A <img src="x" onerror="document.title = 1"> and bold [link](javascript:alert(1))');
  await expect(plain.getByRole("list", { name: "Sources" })).toHaveText("[1] <b>a</b>.md, page 2");
  await expect(plain.locator("img, a, b, i")).toHaveCount(0);

  // On a site that it does not name, nothing of the answer arrives; nor does it when the server is away.
  const { viewport, colorScheme, isMobile, hasTouch } = info.project.use;
  const elsewhere = await (await browser.newContext({ viewport, colorScheme, isMobile, hasTouch, ignoreHTTPSErrors: true })).newPage();
  await elsewhere.goto(other.origin);
  await elsewhere.getByRole("button", { name: "Ask our documents" }).click();
  const refused = await ask(elsewhere, "How long does the warranty of the machine last?");
  await expect(refused).toContainText("This assistant is not set up for this page");
  await expect(refused).not.toContainText("two years");
  const reach = await elsewhere.evaluate(async ([url, key, box]) => {
    const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ box_id: box, messages: [{ role: "user", content: "How long does the warranty last?" }] });
    return fetch(url, { method: "POST", headers, body }).then((response) => response.text(), (error) => error.name);
  }, [`${QUIRE}/api/public/v1/chat/completions`, key, box]);
  expect(reach).toBe("TypeError");
  await elsewhere.route(`${QUIRE}/**`, (route) => route.abort());
  await expect(await ask(elsewhere, "And now?")).toContainText("The server cannot be reached");

  // In the language that the tag asks for.
  parts[0] = parts[0].replace("data-box", 'data-language="de" data-box');
  await visitor.unroute(`${QUIRE}/api/**`);
  await visitor.goto(named.origin);
  await visitor.getByRole("button", { name: "Fragen Sie unsere Dokumente" }).click();
  await expect(visitor.getByLabel("Ihre Frage")).toBeFocused();
  await looksRight(visitor, info, "the chat in German");
  for (const { end } of [named, other]) end();
});
