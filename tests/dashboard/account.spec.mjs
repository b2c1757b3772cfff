// One's own account, and the server as its operators see it.

import { STATE, another, expect, invited, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("an API key is made, shown once, used, marked when exposed, and revoked", async ({ browser, request, tag }, info) => {
  const page = await newcomer(browser, info, `keys-${tag}@example.org`);
  await makeBox(page, "Keyed");
  await page.goto("/account/keys");
  await expect(page.getByText("No keys yet.")).toBeVisible();
  await page.getByLabel("Name").fill("nightly import");
  await page.getByLabel("Expires").selectOption("30");
  await page.getByLabel("only these:").check();
  await page.getByLabel("Keyed").check();
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("#fresh-key").textContent();
  expect(key).toMatch(/^quire_[0-9A-Za-z]{8}_[0-9A-Za-z]{38,}$/);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy key" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await looksRight(page, info, "a new key");
  const check = (path = "/check") => request.get(`/api/public/v1${path}`, { headers: { Authorization: `Bearer ${key}` } });
  expect((await check()).status()).toBe(200);
  expect((await check(`/check?key=${key}`)).status()).toBe(200);
  await page.goto("/account/keys");
  await expect(page.getByText(key)).toHaveCount(0);
  const row = page.getByRole("row", { name: /nightly import/ });
  await expect(row).toContainText("inside a URL");
  await expect(row).not.toContainText("never");
  await looksRight(page, info, "keys");
  await row.getByRole("button", { name: /Revoke/ }).click();
  await expect(page.getByRole("status")).toContainText("revoked");
  expect((await check()).status()).toBe(401);
});

test("usage shows what was spent, by day and by key, and the limits", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `usage-${tag}@example.org`);
  const box = await makeBox(page, "Spent");
  await upload(page, [samples("warranty.md")]);
  await page.goto(`${box}/search`);
  await page.getByLabel("Search as I type").uncheck();
  await page.getByRole("searchbox").fill("warranty");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.locator(".hit").first()).toBeVisible();
  await page.goto("/account/usage");
  await expect(page.getByRole("img", { name: /Units per day/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /Dashboard( Calls:)? 1 call/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /Searches( Calls:)? 1 call/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /Your account/ })).toBeVisible();
  await looksRight(page, info, "usage");
  await page.getByRole("navigation", { name: "Months" }).getByRole("link").first().click();
  await expect(page.getByText("Nothing yet.").first()).toBeVisible();
});

test("operators invite, change, switch off, and see how the server is", async ({ browser, tag }, info) => {
  const { viewport, colorScheme, isMobile, hasTouch } = info.project.use;
  const context = await browser.newContext({ storageState: STATE, viewport, colorScheme, isMobile, hasTouch, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  const page = await context.newPage();
  const email = `managed-${tag}@example.org`;
  const managed = await invited(browser, info, email);
  await page.goto("/operator/plans");
  const fresh = page.locator("section", { has: page.getByRole("heading", { name: "New plan" }) });
  await fresh.getByLabel("Name").fill(`plan-${tag}`);
  await fresh.getByLabel("Units per month").fill("5000");
  await fresh.getByRole("button", { name: "Create plan" }).click();
  await expect(page.getByRole("row", { name: new RegExp(`plan-${tag} 5,000`) })).toBeVisible();
  await looksRight(page, info, "plans");
  await page.goto("/operator/users");
  const row = page.getByRole("row", { name: new RegExp(email) });
  await row.getByLabel(`Plan of ${email}`).selectOption(`plan-${tag}`);
  await row.getByRole("button", { name: `Save ${email}` }).click();
  await expect(page.getByRole("status")).toHaveText("The account has been changed.");
  await expect(row).toContainText(/\b0 of 5,000/);
  await expect(row).toContainText("in 0 boxes");
  const box = await makeBox(managed, "Managed");
  await upload(managed, [samples("warranty.md")]);
  await managed.goto(`${box}/search?query=warranty`);
  await expect(managed.locator(".hit").first()).toBeVisible();
  await page.reload();
  await expect(row).toContainText(/\b[1-4] of 5,000/);
  await expect(row).toContainText("in 1 box");
  await looksRight(page, info, "users");
  await row.getByLabel("active", { exact: true }).uncheck();
  await row.getByRole("button", { name: `Save ${email}` }).click();
  await expect(row).toContainText("disabled");
  await managed.goto("/");
  await expect(managed).toHaveURL(/sign-in/);
  await row.getByLabel("active", { exact: true }).check();
  await row.getByRole("button", { name: `Save ${email}` }).click();
  await row.getByRole("button", { name: `Password link for ${email}` }).click();
  const link = await page.locator("#fresh-link").textContent();
  const other = await another(browser, info);
  await other.goto(link);
  await expect(other.getByRole("heading", { name: "Choose a new password" })).toBeVisible();
  await looksRight(other, info, "a link");
  await other.getByLabel("Password").fill("one more good password");
  await other.getByRole("button", { name: "Set password" }).click();
  await expect(other.getByRole("heading", { name: "Boxes" })).toBeVisible();
  expect((await other.goto(link)).status()).toBe(404);
  for (const place of ["system", "health"]) expect((await other.goto(`/operator/${place}`)).status()).toBe(403);
  await page.goto("/operator/system");
  for (const heading of ["Health", "Models", "Queue", "Storage"]) await expect(page.getByRole("heading", { name: heading })).toBeVisible();
  await expect(page.getByText("quire-embed-2")).toBeVisible();
  await looksRight(page, info, "system");
  await page.goto("/operator/health");
  await expect(page.getByRole("heading", { name: "Health" })).toBeVisible();
  await expect(page.getByRole("listitem").filter({ hasText: "backup" })).toContainText("quire backup DIR");
  await looksRight(page, info, "health");
  await page.goto("/operator/audit");
  await expect(page.getByRole("row", { name: new RegExp(`Account disabled ${email}`) }).first()).toBeVisible();
  await looksRight(page, info, "the whole audit log");
});

test("everything can be reached with the keyboard, and what is in focus shows", async ({ browser, tag }, info) => {
  test.skip(info.project.use.isMobile, "a phone has no Tab key");
  const page = await newcomer(browser, info, `keyboard-${tag}@example.org`);
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  const seen = new Set();
  for (let step = 0; step < 25; step += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === document.body) return {};
      return { name: element.textContent.trim() || element.name, outline: getComputedStyle(element).outlineStyle };
    });
    if (at.name) { seen.add(at.name); expect(at.outline, at.name).not.toBe("none"); }
  }
  for (const name of ["Boxes", "API keys", "Usage", "Profile", "Sign out", "name", "Create box"]) expect(seen).toContain(name);
});
