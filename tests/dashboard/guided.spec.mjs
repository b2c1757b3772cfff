// What leads people on: first steps, notifications, the language model's settings, and taking things back.

import http from "node:http";

import { STATE, expect, looksRight, makeBox, newcomer, samples, send, test, upload } from "./support.mjs";

const text = (name, body) => ({ name, mimeType: "text/plain", buffer: Buffer.from(body) });

/** The operator, with pages of the kind that the test is about. */
async function asOperator(browser, info) {
  const { viewport, colorScheme, isMobile, hasTouch } = info.project.use;
  return browser.newContext({ storageState: STATE, viewport, colorScheme, isMobile, hasTouch, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
}

test("first steps tick themselves off, and can be hidden", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `begun-${tag}@example.org`);
  await page.goto("/");
  const steps = page.getByRole("region", { name: "First steps" });
  await expect(steps).toContainText("0 of 4 done");
  await looksRight(page, info, "first steps");
  const box = await makeBox(page, "Begun");
  await upload(page, [samples("warranty.md")]);
  await page.goto("/");
  await expect(steps).toContainText("2 of 4 done");
  await steps.getByRole("link", { name: "Ask a question" }).click();
  expect(page.url()).toBe(`${box}/chat`);
  await page.goto("/");
  await looksRight(page, info, "first steps, some done");
  await steps.getByRole("button", { name: "Hide this list" }).click();
  await expect(steps).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("heading", { name: "Boxes", level: 1 })).toBeVisible();
  await expect(steps).toHaveCount(0);
});

test("the bell tells of failed files, units and keys, once", async ({ browser, tag }, info) => {
  const operator = await asOperator(browser, info);
  await send(operator, "/operator/plans", "/operator/plans", { name: "tiny", units: "4" });
  await operator.close();
  const page = await newcomer(browser, info, `bell-${tag}@example.org`, "tiny");
  const bell = page.locator("[data-bell]"), count = bell.locator("[data-unseen]");
  await page.goto("/account/notices");
  await expect(page.getByRole("heading", { name: "Nothing needs your attention" })).toBeVisible();
  await looksRight(page, info, "no notifications");

  const box = await makeBox(page, "Trouble");
  // Both are read: searching a box without text costs nothing.
  await upload(page, [{ name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.7 and nothing else") }, text("warranty.txt", "The warranty lasts two years. Only the maker repairs the machine.")]);
  await expect(page.locator("[data-queue] .chip.failed")).toHaveCount(1);
  await send(page.context(), "/account/keys", "/account/keys", { name: "short-lived", days: "3", scope: "all", permission: "search" });
  await page.goto(`${box}/search?query=warranty`);
  for (const query of ["How long is the warranty?", "Who repairs the machine?", "What voids the warranty?", "How is the filter cleaned?"]) {
    await page.getByRole("searchbox").fill(query);
    await page.keyboard.press("Enter");
    // A search is given up for the next one, and then costs nothing.
    await expect(page.locator("[data-results]:not([aria-busy])").locator(".summary, .wrong").first()).toBeVisible();
  }
  await page.goto("/");
  await expect(count).toHaveText("3");
  await looksRight(page, info, "a bell that counts");
  await bell.click();
  const notices = page.locator("[data-notice]");
  await expect(notices).toHaveCount(3);
  await expect(page.locator("main")).toContainText(/units? (is|are) left until|No units are left/);
  await expect(page.locator("main")).toContainText("The key short-lived stops working on");
  await expect(page.locator("main")).toContainText("1 file in Trouble could not be read.");
  await expect(count).toBeHidden();
  await looksRight(page, info, "notifications");
  await page.getByRole("link", { name: "Show the files" }).click();
  await expect(page.locator("tbody tr")).toHaveCount(1);
  await expect(count).toBeHidden();
  await page.locator("tbody input[type=checkbox]").check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("heading", { name: "1 file deleted." })).toBeVisible();
  await page.goto("/account/notices");
  await expect(notices).toHaveCount(2);
});

test("labels and changes are taken back, and all of a long list are meant at once", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `undo-${tag}@example.org`);
  const box = await makeBox(page, "Many");
  await upload(page, Array.from({ length: 52 }, (_, at) => text(`note-${String(at).padStart(2, "0")}.txt`, `Note number ${at} is about the harbour.`)));
  await page.goto(`${box}?sort=name`);
  const rows = page.locator("tbody tr");
  await expect(rows).toHaveCount(50);
  const everything = page.getByLabel("Select all 52 files");
  await expect(everything).toBeHidden();
  await page.getByLabel("Select note-00.txt").check();
  await expect(page.locator("[data-count]")).toHaveText("1 selected");
  await page.getByLabel("Labels to add").fill("draft");
  await page.getByRole("button", { name: "Add labels" }).click();
  await expect(page.getByRole("status")).toContainText("1 file labelled.");
  await expect(page.locator(".chip.tag")).toHaveCount(1);
  await looksRight(page, info, "something to undo");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("status")).toHaveText("The change has been undone.");
  await expect(page.locator(".chip.tag")).toHaveCount(0);
  expect(page.url()).toContain("sort=name");

  await page.getByLabel("Select all on this page").check();
  await expect(page.locator("[data-count]")).toHaveText("50 selected");
  await looksRight(page, info, "all of a page selected");
  await everything.check();
  await expect(page.locator("[data-count]")).toHaveText("52 selected");
  await page.getByLabel("Labels to add").fill("harbour");
  await page.getByRole("button", { name: "Add labels" }).click();
  await expect(page.getByRole("status")).toContainText("52 files labelled.");
  await page.goto(`${box}?tag=harbour`);
  await expect(page.locator(".total")).toHaveText("52 files");
  await page.getByLabel("Select all on this page").check();
  await everything.check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByRole("heading", { name: "52 files deleted." })).toBeVisible();

  await page.goto(box);
  await upload(page, [text("kept.txt", "The harbour opens at six.")]);
  await page.getByRole("link", { name: "kept.txt" }).first().click();
  await page.getByLabel("New key").fill("year");
  await page.getByLabel("New value").first().fill("2024");
  await page.getByLabel("Name", { exact: true }).fill("renamed.txt");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "renamed.txt" })).toBeVisible();
  await expect(page.getByRole("status")).toContainText("The file has been changed.");
  await looksRight(page, info, "a changed file");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("status")).toHaveText("The change has been undone.");
  await expect(page.getByRole("heading", { name: "kept.txt" })).toBeVisible();
  await expect(page.getByLabel("Value of year")).toHaveCount(0);
});

/** A server that answers as a language model would, right where the passages of the trial allow it. */
async function languageModel(key) {
  const known = [[/warranty/, 'It lasts 36 months [1: "Its warranty lasts 36 months"].'], [/price of the Aurora 500/, "399 EUR [2]."], [/Rücksendungen/, '30 Tage [3: "innerhalb von 30 Tagen"].'], [/weigh/, '{"weight": "4.2 kg"}']];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.headers.authorization !== `Bearer ${key}`) { response.writeHead(401).end("{}"); return; }
    const question = JSON.parse(body).messages.at(-1).content;
    const last = known.find(([about]) => about.test(question.slice(-300)))?.[1] ?? "NOT_IN_THE_DOCUMENTS";
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const delta of [{ role: "assistant", content: "" }, { content: last }]) response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

test("a language model is tried, chosen and given up", async ({ browser }, info) => {
  const server = await languageModel("a secret key");
  const context = await asOperator(browser, info);
  const page = await context.newPage();
  try {
    await page.goto("/operator/model");
    await expect(page.locator("[data-answerer]")).toContainText("By quoting");
    await looksRight(page, info, "language model");
    const save = page.getByRole("button", { name: "Save" }), testing = page.getByRole("button", { name: "Test" });
    await testing.click();
    await expect(page.locator("[data-tried]")).toContainText("4 of 5 right");
    await looksRight(page, info, "quoting, tried");

    await page.getByLabel("Address").fill("localhost:1234");
    await expect(page.getByLabel("by a language model")).toBeChecked();
    await page.getByLabel("Model", { exact: true }).fill("tiny");
    await save.click();
    await expect(page.getByRole("alert").or(page.locator("input[name=url]:invalid"))).toHaveCount(1);
    await page.getByLabel("Address").fill(`http://127.0.0.1:${server.address().port}/v1`);
    await page.getByLabel("Key, if").fill("not the key");
    await testing.click();
    await expect(page.getByRole("alert")).toContainText(/model/i);
    await looksRight(page, info, "a model that refuses");
    await page.getByLabel("Key, if").fill("a secret key");
    await testing.click();
    await expect(page.locator("[data-tried]")).toContainText(/[345] of 5 right/);
    await looksRight(page, info, "a model, tried");
    await save.click();
    await expect(page.getByText("Saved. The next question is answered this way.")).toBeVisible();
    await expect(page.locator("[data-answerer]")).toContainText("tiny at http://127.0.0.1");
    expect(await page.content()).not.toContain("a secret key");
    await expect(page.getByLabel("Key, if")).toHaveAttribute("placeholder", "unchanged");
    await testing.click();
    await expect(page.locator("[data-tried]")).toContainText(/[345] of 5 right/);
    // The key goes to no other address.
    await page.getByLabel("Address").fill(`http://127.0.0.1:${server.address().port}/other/v1`);
    await testing.click();
    await expect(page.getByRole("alert")).toContainText(/model/i);
  } finally {
    await page.goto("/operator/model");
    await page.getByLabel("by quoting").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.locator("[data-answerer]")).toContainText("By quoting");
    await context.close();
    server.close();
  }
});
