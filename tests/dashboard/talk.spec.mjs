// Conversations: kept, listed, continued, renamed and deleted; answers as formatted text.

import { ask, expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

/** What is on the clipboard. */
async function copied(page) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  return page.evaluate(() => navigator.clipboard.readText());
}

test("a conversation is kept, continued, renamed and deleted", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `talk-${tag}@example.org`);
  const box = await makeBox(page, "Talk");
  await page.goto(`${box}/chat`);
  await expect(page.getByText("This box has no text yet")).toBeVisible();
  await page.goto(box);
  await upload(page, [samples("warranty.md"), samples("manual.pdf")]);
  await page.goto(`${box}/chat`);
  await expect(page.getByText("No language model is set up on this server")).toBeVisible();
  await looksRight(page, info, "chat, empty");
  await ask(page, "How long does the warranty of the machine last?");
  await expect(page).toHaveURL(/\/chat\/cnv_/);
  await ask(page, "Where are repairs made?");
  await page.reload();
  await expect(page.locator(".turn")).toHaveCount(4);
  await expect(page.locator(".turn.answer").first().locator("a.cite").first()).toBeVisible();
  await expect(page.locator(".turn.answer").first()).toContainText("two years");
  await looksRight(page, info, "a conversation");
  await page.locator(".turn.answer").first().getByRole("button", { name: "Copy answer" }).click();
  const answer = await copied(page);
  expect(answer).toContain("two years");
  expect(answer).toMatch(/\[1\][^]*\n\nSources\n\[1\] warranty\.md, page 1: “.*two years/);
  expect(answer).not.toContain("Where are repairs made?");
  await page.getByRole("button", { name: "Copy conversation" }).click();
  await expect(page.getByRole("button", { name: "Copied" }).last()).toBeVisible();
  const whole = await copied(page);
  expect(whole).toContain(`## How long does the warranty of the machine last?\n\n${answer}\n\n## Where are repairs made?\n\n`);
  await ask(page, "How often is the filter cleaned?");
  const first = page.url();

  await page.getByRole("link", { name: "New conversation" }).last().click();
  await expect(page.locator(".turn")).toHaveCount(0);
  await ask(page, "How much water does it take?");
  expect(page.url()).not.toBe(first);
  const past = page.locator("[data-past]");
  if (info.project.use.isMobile) await past.getByText("Conversations", { exact: true }).click();
  await past.getByRole("link", { name: /How long does the warranty/ }).click();
  await expect(page.locator(".turn")).toHaveCount(6);
  await page.getByText("Rename or delete").click();
  await page.getByLabel("Title").fill("About the warranty");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { name: "About the warranty" })).toBeVisible();

  await page.getByText("Share", { exact: true }).click();
  await page.getByRole("button", { name: "Share with this box" }).click();
  await expect(page.locator(".notice")).toContainText("Everybody in this box can now read");
  await page.getByText("Share", { exact: true }).click();
  const link = await page.locator("#shared-link").textContent();
  await looksRight(page, info, "a conversation that is shared");
  await page.goto(link);
  await expect(page.locator(".turn")).toHaveCount(6);
  await expect(page.getByText("who shared it with this box")).toBeVisible();
  await expect(page.getByLabel("Your question")).toHaveCount(0);
  await page.getByRole("button", { name: "Copy conversation" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect((await copied(page)).match(/^## /gm)).toHaveLength(3);
  await page.locator(".turn.answer a.cite").first().click();
  await expect(page.getByRole("dialog").locator("mark", { hasText: "two years" })).toBeVisible();
  await page.goto(link);
  await looksRight(page, info, "a shared conversation");
  await page.getByRole("link", { name: "Continue it" }).click();
  await page.getByText("Share", { exact: true }).click();
  await page.getByRole("button", { name: "Stop sharing" }).click();
  await expect(page.locator(".notice")).toHaveText("The conversation is yours alone again.");
  expect((await page.goto(link)).status()).toBe(404);
  await page.goto(first);
  await page.getByText("Rename or delete").click();
  await page.getByRole("button", { name: "Delete conversation" }).click();
  await expect(page.locator(".notice")).toHaveText("The conversation has been deleted.");
  expect((await page.goto(first)).status()).toBe(404);
});

test("answers are formatted, and nothing in them becomes markup", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `format-${tag}@example.org`);
  const box = await makeBox(page, "Format");
  await upload(page, [samples("warranty.md")]);
  await page.goto(`${box}/chat`);
  const text = "## Result\n\nThe **machine** has `two` years <img src=x onerror=alert(1)>.\n\n- one\n- two\n  - deeper\n\n1. first\n2. second\n\n| Part | Price |\n|---|---|\n| Blade | 12 |\n\n> quoted\n\n```\n<b>code</b>\n```\n\n[bad](javascript:alert(1)) and [good](https://example.org/)";
  await page.route("**/chat", (route) => route.request().method() !== "POST" ? route.fallback() : route.fulfill({
    contentType: "text/event-stream",
    body: text.match(/[\s\S]{1,7}/g).map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).join("") + `data: ${JSON.stringify({ choices: [], usage: { intelligence_units_consumed: 1, intelligence_units_remaining: 9 } })}\n\ndata: [DONE]\n\n`,
  }));
  await ask(page, "What is it?");
  const answer = page.locator(".turn.answer");
  await expect(answer.locator("strong")).toHaveText("machine");
  await expect(answer.locator("p code")).toHaveText("two");
  await expect(answer.locator("ul > li")).toHaveCount(3);
  await expect(answer.locator("ol:not(.sources) > li")).toHaveCount(2);
  await expect(answer.locator("td")).toHaveText(["Blade", "12"]);
  await expect(answer.locator("blockquote")).toContainText("quoted");
  await expect(answer.locator("pre")).toHaveText("<b>code</b>");
  await expect(answer.locator("img, b")).toHaveCount(0);
  await expect(answer.locator("a")).toHaveCount(1);
  await looksRight(page, info, "a formatted answer");
});
