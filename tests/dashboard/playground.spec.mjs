// Trying the API from the dashboard.

import { expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("a request is filled in, sent with a key, and answered", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `tries-${tag}@example.org`);
  await makeBox(page, "Tried");
  await upload(page, [samples("warranty.md")]);
  await page.goto("/account/keys");
  await page.getByLabel("Name").fill("playground");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await page.locator("#fresh-key").textContent();
  await page.goto("/account/playground");
  const body = page.locator("textarea[name=body]");
  await expect(body).toHaveValue(/warranty/);
  await expect(page.locator("#trial-curl")).toContainText("$QUIRE_API_KEY");
  await looksRight(page, info, "playground");
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator("[data-status]")).toContainText("200");
  await expect(page.locator("[data-text]")).toContainText("warranty.md");
  await expect(page.locator("#trial-curl")).not.toContainText(key);
  await body.fill("{");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator("[data-status]")).toContainText("400");
  await looksRight(page, info, "an answer in the playground");
  await page.locator("select[name=operation]").selectOption("check");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(body).toHaveCount(0);
  await page.getByLabel("API key").fill("quire_not_a_key");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.locator("[data-status]")).toContainText("401");
});
