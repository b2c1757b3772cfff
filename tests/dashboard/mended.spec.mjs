// Things that used to break a task: each of these walks failed before it was mended.

import { another, ask, expect, looksRight, makeBox, newcomer, samples, signIn, test, upload } from "./support.mjs";

const text = (name, content) => ({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
const tab = (page, name) => page.getByRole("navigation", { name: "Box" }).getByRole("link", { name }).click();

/** A slow answer whose stream the test holds. */
async function holdChat(page) {
  await page.route("**/chat", async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    await new Promise((done) => setTimeout(done, 60_000));
    await route.abort().catch(() => {});
  });
}

test("an answer is stopped with one click", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `stop-${tag}@example.org`);
  await makeBox(page, "Stopping");
  await upload(page, [samples("warranty.md")]);
  await tab(page, "Chat");
  await holdChat(page);
  await page.getByLabel("Your question").fill("How long does the warranty last?");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.locator(".turn.answer").last()).toContainText("Stopped.");
  await expect(page.getByRole("button", { name: "Ask" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop" })).toBeHidden();
});

test("what was read can be read in the dark", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `dark-${tag}@example.org`);
  await page.emulateMedia({ colorScheme: "dark" });
  const box = await makeBox(page, "Dark");
  await upload(page, [samples("warranty.md"), samples("safety.html")]);
  for (const [name, words] of [["warranty.md", "two years"], ["safety.html", "71 decibels"]]) {
    await page.goto(box);
    await page.getByRole("link", { name }).click();
    const inside = page.locator(".text");
    await expect(inside).toContainText(words);
    const ink = await inside.evaluate((body) => getComputedStyle(body.querySelector("pre, p") ?? body).color);
    const paper = await page.locator(".pane").evaluate((pane) => getComputedStyle(pane).backgroundColor);
    const light = (colour) => { const [r, g, b] = colour.match(/[\d.]+/g).map(Number); return (r * 2 + g * 5 + b) / 8; };
    expect(Math.abs(light(ink) - light(paper)), `${name}: ${ink} on ${paper}`).toBeGreaterThan(110);
  }
});

test("several files are changed, and the list stays the one it was", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `bulk-${tag}@example.org`);
  const box = await makeBox(page, "Bulk");
  await upload(page, [text("a.txt", "The first text."), text("b.txt", "The second text."), text("c.txt", "The third text.")]);
  await page.goto(`${box}?sort=-name&status=ready`);
  // Enter in the field of labels adds labels.
  await page.getByLabel("Select a.txt").check();
  await page.getByLabel("Select b.txt").check();
  await page.getByLabel("Labels to add").fill("checked");
  await page.getByLabel("Labels to add").press("Enter");
  await expect(page.getByText("2 files labelled.")).toBeVisible();
  const address = new URL(page.url());
  expect([address.pathname, address.searchParams.get("sort"), address.searchParams.get("status")]).toEqual([new URL(box).pathname, "-name", "ready"]);
  await expect(page.locator("tbody th a")).toHaveText(["c.txt", "b.txt", "a.txt"]);
  await expect(page.locator("tbody .chip.tag")).toHaveCount(2);
  await page.reload();
  await expect(page.getByText("2 files labelled.")).toHaveCount(0);
  // Without labels it says so, where they are typed.
  await page.getByLabel("Select c.txt").check();
  await page.getByRole("button", { name: "Add labels" }).click();
  await expect(page.getByRole("alert")).toHaveText("Type the labels to add.");
  await expect(page.getByLabel("Select c.txt")).toBeChecked();
  await page.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("status", { name: "Receipt" })).toContainText("1 file deleted.");
  await page.reload();
  await expect(page.getByRole("status", { name: "Receipt" })).toHaveCount(0);
  await expect(page.locator("tbody tr")).toHaveCount(2);
});

test("the newest answer stands above the ask bar", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `above-${tag}@example.org`);
  await makeBox(page, "Above");
  await upload(page, [samples("warranty.md"), samples("manual.pdf")]);
  await tab(page, "Chat");
  for (const question of ["How long does the warranty of the machine last?", "Where are repairs made?", "How often is the filter cleaned?", "How much water does it take?"]) {
    await ask(page, question);
  }
  await page.waitForFunction(() => {
    const answer = [...document.querySelectorAll(".turn.answer")].at(-1).getBoundingClientRect();
    return answer.bottom <= document.querySelector("[data-ask]").getBoundingClientRect().top + 1;
  });
});

test("whoever leaves for a source finds chat and search as they were, and pays nothing again", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `back-${tag}@example.org`);
  const box = await makeBox(page, "Back");
  await upload(page, [samples("warranty.md")]);
  const asked = [];
  page.on("request", (request) => { if (request.method() === "POST" && /\/(search|chat)$/.test(new URL(request.url()).pathname)) asked.push(request.url()); });
  await tab(page, "Search");
  await page.getByRole("searchbox").fill("how long is the warranty");
  await page.keyboard.press("Enter");
  await page.locator(".hit a[data-page]").first().click();
  await page.getByRole("dialog").getByRole("link", { name: "Open the file here" }).click();
  await expect(page.locator("mark[data-quote]")).toBeVisible();
  const before = asked.length;
  await page.goBack();
  await expect(page.locator(".hit").first()).toContainText("two years");
  await expect(page.getByRole("searchbox")).toHaveValue("how long is the warranty");
  await tab(page, "Chat");
  await ask(page, "How long does the warranty of the machine last?");
  await page.locator(".turn.answer a.cite").first().click();
  await page.getByRole("dialog").getByRole("link", { name: "Open the file here" }).click();
  await expect(page.locator("mark[data-quote]")).toBeVisible();
  await page.goBack();
  await expect(page.locator(".turn.answer")).toContainText("two years");
  await expect(page.locator(".turn.mine")).toHaveText("How long does the warranty of the machine last?");
  expect(asked.length - before, "nothing but the one question was asked").toBe(1);
  // A link to the search works for others.
  const other = await another(browser, info);
  await signIn(other, `back-${tag}@example.org`);
  await other.goto(`${box}/search?query=how+long+is+the+warranty`);
  await expect(other.locator(".hit").first()).toContainText("two years");
});

test("a server that is away is said so, and tried again", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `away-${tag}@example.org`);
  await makeBox(page, "Away");
  await upload(page, [samples("warranty.md")]);
  await tab(page, "Search");
  let away = true;
  await page.route(/\/(search|chat)$/, (route) => route.request().method() === "POST" && away ? route.abort("connectionrefused") : route.fallback());
  await page.getByRole("searchbox").fill("how long is the warranty");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("The server cannot be reached.");
  await looksRight(page, info, "search, server away");
  away = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".hit").first()).toContainText("two years");
  away = true;
  await tab(page, "Chat");
  await page.getByLabel("Your question").fill("How long does the warranty of the machine last?");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("The server cannot be reached.");
  await looksRight(page, info, "chat, server away");
  away = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.locator(".turn.answer")).toContainText("two years");
});

test("an upload warns whoever leaves, can be cancelled and tried again", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `leave-${tag}@example.org`);
  await makeBox(page, "Leaving");
  let hold = true, sent = 0;
  await page.route("**/files", async (route) => {
    sent += 1;
    if (hold) { await new Promise((done) => setTimeout(done, 30_000)); await route.abort().catch(() => {}); } else await route.fallback();
  });
  const files = page.locator("input[data-files]:not([webkitdirectory])");
  await files.setInputFiles([text("one.txt", "One text."), text("two.txt", "Another text.")]);
  await expect(page.getByRole("button", { name: "Cancel two.txt" })).toBeVisible();
  const warned = await page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
  expect(warned, "whoever leaves is warned").toBe(true);
  await page.getByRole("button", { name: "Cancel two.txt" }).click();
  await expect(page.locator("[data-queue] li", { hasText: "two.txt" })).toContainText("Cancelled");
  await page.getByRole("button", { name: "Cancel all" }).click();
  await expect(page.locator("[data-summary]")).toHaveText("0 of 2 uploaded, 2 cancelled");
  hold = false;
  await page.getByRole("button", { name: "Retry one.txt" }).click();
  await expect(page.locator("[data-summary]")).toHaveText(/^1 of 2 uploaded/);
  const quiet = await page.evaluate(() => dispatchEvent(new Event("beforeunload", { cancelable: true })));
  expect(quiet, "nothing is under way any more").toBe(true);
  // What the server would refuse is not sent, failures come first, and what systems leave behind is left out.
  const before = sent;
  await files.setInputFiles([text("fine.txt", "A fine text."), { name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(3 * 1024 * 1024, 7) }, text(".DS_Store", "junk"), text("empty.txt", "")]);
  await expect(page.locator("[data-summary]")).toHaveText(/^2 failed, 2 of 5 uploaded.*1 system file left out/);
  expect(sent - before).toBe(1);
  await expect(page.locator("[data-wrongs] li").first()).toContainText("larger than 2 MB");
  await looksRight(page, info, "uploads");
});

test("a new key works where it was said to, is made once, and so is a box", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `once-${tag}@example.org`);
  await makeBox(page, "One");
  await makeBox(page, "Two");
  await page.goto("/account/keys");
  await page.getByLabel("Name", { exact: true }).fill("for one");
  await page.getByRole("checkbox", { name: "One", exact: true }).check();
  await expect(page.getByLabel("only these:")).toBeChecked();
  await page.getByRole("button", { name: "Create key" }).click();
  await expect(page.locator("#fresh-key")).toContainText("quire_");
  await expect(page.locator("tbody tr")).toHaveCount(1);
  await expect(page.locator("tbody tr")).toContainText("One");
  await expect(page.locator("tbody tr")).not.toContainText("All your boxes");
  await page.reload();
  await expect(page.locator("#fresh-key")).toHaveCount(0);
  await expect(page.locator("tbody tr")).toHaveCount(1);
  await page.goto("/");
  await page.getByLabel("Name", { exact: true }).fill("Twice");
  await page.getByRole("button", { name: "Create box" }).dblclick();
  await expect(page.getByRole("heading", { level: 1, name: "Twice" })).toBeVisible();
  await page.goto("/");
  await expect(page.getByRole("link", { name: "Twice", exact: true })).toHaveCount(1);
});

test("a mistake in a form is told beside what was typed", async ({ browser, tag }, info) => {
  const email = `typed-${tag}@example.org`;
  const page = await newcomer(browser, info, email);
  await page.goto("/account/profile");
  await page.getByLabel("Current password").fill("not the password");
  await page.getByLabel("New password").fill("a fine new password");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByRole("alert")).toContainText("The current password is wrong.");
  await expect(page.getByLabel("New password")).toHaveValue("a fine new password");
  await looksRight(page, info, "a mistake in a form");
  // What everybody tries first is refused, and said to be weak while it is typed.
  await page.getByLabel("Current password").fill("correct horse battery");
  await page.getByLabel("New password").fill("password1234");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByRole("alert")).toContainText("among the first that others would try");
  await expect(page).toHaveURL(/\/account\/profile$/);
});

test("a hit's panel shows its header and its quote", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `panel-${tag}@example.org`);
  await makeBox(page, "Panel");
  const lines = (from, to) => Array.from({ length: to - from }, (_, at) => `Line ${from + at} says nothing that matters to anybody here.`).join("\n\n");
  await upload(page, [text("long.txt", `${lines(0, 60)}\n\nThe blue heron nests on the northern island in April.\n\n${lines(60, 120)}`), text("short.txt", "The grey heron eats fish.")]);
  await tab(page, "Search");
  await page.getByRole("searchbox").fill("where does the blue heron nest");
  await page.keyboard.press("Enter");
  await page.locator(".hit a[data-page]").first().click();
  const panel = page.getByRole("dialog");
  await expect(panel.locator("mark", { hasText: "blue heron" })).toBeVisible();
  await expect(panel.getByRole("heading", { name: /long\.txt/ })).toBeInViewport();
  await expect(panel.getByRole("button", { name: "Close" })).toBeInViewport();
  await expect(panel.locator("mark", { hasText: "blue heron" })).toBeInViewport();
  await looksRight(page, info, "a long page beside a hit");
});

test("nonsense finds nothing relevant, and an empty box costs nothing", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `nonsense-${tag}@example.org`);
  await makeBox(page, "Nonsense");
  await tab(page, "Search");
  await page.getByRole("searchbox").fill("anything at all");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toContainText("no text yet");
  const box = page.url().split("/search")[0];
  await page.goto("/account/usage");
  await expect(page.getByText("Nothing yet.").first()).toBeVisible();
  await page.goto(box);
  await upload(page, [samples("warranty.md"), samples("manual.pdf"), samples("safety.html")]);
  await tab(page, "Search");
  await page.getByRole("searchbox").fill("zxqv wmplk trrrf");
  await page.keyboard.press("Enter");
  await expect(page.locator(".summary")).toContainText("Nothing relevant found");
  await expect(page.locator(".hit:visible")).toHaveCount(0);
  await page.getByRole("searchbox").fill("how long is the warranty of the machine");
  await page.keyboard.press("Enter");
  await expect(page.locator(".hit .strength").first()).toHaveText(/strong|possible/);
});

test("a second tab shows what the first one adds", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `tabs-${tag}@example.org`);
  const box = await makeBox(page, "Tabs");
  const second = await page.context().newPage();
  await second.goto(box);
  await expect(second.getByRole("heading", { name: "No files yet" })).toBeVisible();
  const listening = second.waitForResponse(/\/events$/).catch(() => {});
  await second.reload();
  await listening;
  await upload(page, [samples("warranty.md")]);
  await expect(second.locator("tbody tr", { hasText: "warranty.md" }).locator(".chip.ready")).toBeVisible();
});

test("text from right to left is laid out so", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `rtl-${tag}@example.org`);
  const box = await makeBox(page, "Right to left");
  await upload(page, [text("hebrew.txt", "האחריות על המכונה נמשכת שנתיים מיום הקנייה.")]);
  await page.goto(box);
  await page.getByRole("link", { name: "hebrew.txt" }).click();
  expect(await page.locator(".text pre").evaluate((text) => getComputedStyle(text).direction)).toBe("rtl");
});

test("a member leaves a box", async ({ browser, tag }, info) => {
  const owner = await newcomer(browser, info, `stays-${tag}@example.org`);
  const member = await newcomer(browser, info, `leaves-${tag}@example.org`);
  const box = await makeBox(owner, "Left");
  await owner.goto(`${box}/members`);
  await owner.getByLabel("E-mail address").fill(`leaves-${tag}@example.org`);
  await owner.getByRole("button", { name: "Add" }).click();
  await expect(owner.getByRole("status")).toHaveText("The member has been added.");
  await member.goto(`${box}/members`);
  await member.getByRole("button", { name: "Leave this box" }).click();
  await expect(member.getByRole("status")).toHaveText("You have left the box.");
  expect((await member.goto(box)).status()).toBe(403);
  // The last owner stays, and is told why.
  await owner.getByRole("button", { name: "Leave this box" }).click();
  await expect(owner.getByRole("alert")).toContainText("at least one owner");
});

test("nothing but what is meant looks selected, folders keep their paths, and code names this server's certificate", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `looks-${tag}@example.org`);
  const box = await makeBox(page, "Folders");
  await page.locator("input[webkitdirectory]").setInputFiles(samples("letters"));
  await expect(page.locator("[data-summary]")).toHaveText(/^2 of 2 uploaded/);
  await page.goto(box);
  await expect(page.locator("tbody .folder", { hasText: "letters/old/" })).toBeVisible();
  await page.goto("/account/keys");
  await expect(page.locator("#use-key")).toContainText("--cacert quire-cert.pem");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "download quire-cert.pem" }).click()]);
  expect(download.suggestedFilename()).toBe("quire-cert.pem");
  const answer = await page.request.get(`${box}`, { headers: { "Accept-Encoding": "gzip" } });
  expect(answer.headers()["content-encoding"]).toBe("gzip");
});
