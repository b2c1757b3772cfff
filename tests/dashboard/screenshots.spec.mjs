// Pictures of the main pages, for docs/ and the README.

import path from "node:path";
import { STATE, ask, expect, makeBox, samples, test, upload } from "./support.mjs";

test.use({ storageState: STATE });

const shot = (page, name) => page.screenshot({ path: path.join(process.env.QUIRE_SCREENSHOTS, `${name}.png`) });

async function prepare(page) {
  await makeBox(page, "Letters");
  await page.locator("input[webkitdirectory]").setInputFiles(samples("letters"));
  await expect(page.locator("tbody .chip.ready")).toHaveCount(2);
  const box = await makeBox(page, "Machines");
  await upload(page, [samples("warranty.md"), samples("safety.html"), samples("manual.pdf"), samples("parts.csv"), samples("broken.pdf")]);
  await page.reload();
  return box;
}

test("pictures", async ({ page, browser }) => {
  test.setTimeout(180_000);
  const box = await prepare(page);
  await shot(page, "files");
  const spanish = await browser.newContext({ storageState: STATE, locale: "es", viewport: { width: 1160, height: 720 }, ignoreHTTPSErrors: true });
  const archivos = await spanish.newPage();
  await archivos.goto(box);
  await expect(archivos.getByText("Suelte aquí archivos o carpetas")).toBeVisible();
  await shot(archivos, "files-spanish");
  await spanish.close();
  await page.goto("/");
  await shot(page, "first-steps");
  await page.getByRole("button", { name: "Hide this list" }).click();
  await expect(page.getByRole("button", { name: "Hide this list" })).toHaveCount(0);
  await shot(page, "boxes");
  await page.goto(`${box}/search`);
  await page.getByRole("searchbox").fill("how often is the filter cleaned?");
  await page.getByRole("button", { name: "Search" }).click();
  const hit = await page.locator(".hit a[data-page]", { hasText: "manual.pdf" }).first().getAttribute("href");
  await page.locator(".hit summary").first().click();
  await shot(page, "search");
  await page.goto(`${box}/chat`);
  for (const question of ["How long does the warranty of the machine last?", "And who makes repairs?"]) {
    await ask(page, question);
  }
  await shot(page, "chat");
  await page.goto(hit);
  await expect.poll(() => page.locator(".look img").evaluate((image) => image.complete && image.naturalWidth)).toBeGreaterThan(0);
  await shot(page, "file");
  await page.goto(`${box}/members`);
  await shot(page, "members");
  await page.goto("/account/keys");
  await page.getByLabel("Name").fill("nightly import");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.locator("#fresh-key").evaluate((element) => { element.textContent = element.textContent.replace(/(_[^_]{6})[^_]*$/, "$1…"); });
  await shot(page, "keys");
  await page.goto("/account/integrations");
  await shot(page, "integrations");
  await page.goto("/account/usage");
  await shot(page, "usage");
  await page.goto("/operator/system");
  await shot(page, "system");
  await page.goto("/operator/model");
  await page.getByRole("button", { name: "Test" }).click();
  await expect(page.locator("[data-tried]")).toContainText("of 5 right");
  await shot(page, "model");
  const state = await page.context().storageState();
  const dark = await browser.newContext({ storageState: state, colorScheme: "dark", viewport: { width: 1160, height: 720 }, ignoreHTTPSErrors: true });
  const night = await dark.newPage();
  await night.goto(`${box}/search`);
  await night.getByRole("searchbox").fill("how loud is the machine?");
  await night.getByRole("button", { name: "Search" }).click();
  await expect(night.locator(".hit").first()).toBeVisible();
  await shot(night, "search-dark");
  const phone = await browser.newContext({ storageState: state, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, ignoreHTTPSErrors: true });
  const small = await phone.newPage();
  await small.goto(`${box}/chat`);
  await ask(small, "How long does the warranty of the machine last?");
  await shot(small, "chat-phone");
});
