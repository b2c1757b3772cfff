// Reading what was found: the picture of a page with the quote marked, its text, the way from hit to hit.

import { ask, expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

/** The picture has been drawn, and the marks lie inside it. */
async function pictureWithMarks(root) {
  const picture = root.locator(".look img");
  await expect.poll(() => picture.evaluate((image) => image.complete && image.naturalWidth)).toBeGreaterThan(300);
  const paper = await picture.boundingBox(), mark = await root.locator(".regions rect").first().boundingBox();
  expect(mark.width * mark.height).toBeGreaterThan(20);
  expect(mark.x).toBeGreaterThanOrEqual(paper.x);
  expect(mark.x + mark.width).toBeLessThanOrEqual(paper.x + paper.width + 1);
  expect(mark.y + mark.height).toBeLessThanOrEqual(paper.y + paper.height + 1);
  // Ink under the mark: it stands where something is written.
  const dark = await picture.evaluate((image, share) => {
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const drawing = canvas.getContext("2d");
    drawing.drawImage(image, 0, 0);
    const [x, y, w, h] = [share.x * canvas.width, share.y * canvas.height, share.w * canvas.width, share.h * canvas.height];
    const { data } = drawing.getImageData(x, y, Math.max(1, w), Math.max(1, h));
    let ink = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] < 128) ink += 1;
    return ink / (data.length / 4);
  }, await root.locator(".regions rect").first().evaluate((rect) => ({ x: rect.x.baseVal.value, y: rect.y.baseVal.value, w: rect.width.baseVal.value, h: rect.height.baseVal.value })));
  expect(dark).toBeGreaterThan(0.01);
}

test("a hit is read on its page, and so is the next", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `reads-${tag}@example.org`);
  const box = await makeBox(page, "Reading");
  await upload(page, [samples("manual.pdf"), samples("parts.csv"), samples("warranty.md")]);
  await page.goto(`${box}/search`);
  await page.getByRole("searchbox").fill("how often is the filter cleaned");
  await page.keyboard.press("Enter");
  const first = page.locator(".hit a[data-page]", { hasText: "manual.pdf" }).first();
  await expect(first).toBeVisible();
  await expect(page.locator(".found")).not.toHaveAttribute("aria-busy", "true");
  await first.click();
  const panel = page.getByRole("dialog");
  await expect(panel.locator("[data-quote]")).toBeVisible();
  await pictureWithMarks(panel);
  await looksRight(page, info, "a page beside the hits");
  // Turning pages inside the panel, without leaving what was found.
  const turned = panel.getByRole("link", { name: /(Next|Previous) page/ }).first();
  await turned.click();
  await expect(panel.locator(".regions")).toHaveCount(0);
  await expect(page).toHaveURL(/\/search\?/);
  await panel.getByRole("link", { name: /(Next|Previous) page/ }).first().click();
  await panel.getByRole("button", { name: "Close" }).click();

  // The file's own page, with the way on.
  await first.click();
  await panel.getByRole("link", { name: "Open the file here" }).click();
  await expect(page).toHaveURL(/\/files\/fil_[^/]*\?page=\d+&start=/);
  await expect(page.getByRole("heading", { name: "manual.pdf" })).toBeVisible();
  await pictureWithMarks(page);
  await looksRight(page, info, "a page with its picture");
  const [left, right] = [await page.locator(".look").boundingBox(), await page.getByRole("region", { name: "Text of the page" }).boundingBox()];
  if (info.project.use.isMobile) expect(right.y).toBeGreaterThanOrEqual(left.y + left.height);
  else expect(right.x).toBeGreaterThan(left.x + left.width);
  const hits = page.getByRole("navigation", { name: "What was found" });
  const where = await hits.locator("[data-place]").textContent();
  expect(where).toMatch(/^\d+ of \d+$/);
  const before = page.url();
  await hits.getByRole("link", { name: /(Next|Previous) hit/ }).first().click();
  await expect(page).not.toHaveURL(before);
  await expect(page.locator("[data-quote]")).toBeVisible();
  await hits.getByRole("link", { name: "Back to what was found" }).click();
  await expect(page.locator(".hit").first()).toContainText(/filter/);
});

test("a page is turned, jumped to and read as it is laid out", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `turns-${tag}@example.org`);
  const box = await makeBox(page, "Turning");
  await upload(page, [samples("manual.pdf"), samples("parts.csv")]);
  await page.goto(box);
  await page.getByRole("link", { name: "manual.pdf" }).click();
  await expect(page.getByAltText("Page 1 of manual.pdf")).toBeVisible();
  await expect(page.getByRole("navigation", { name: "What was found" })).toBeHidden();
  await page.getByRole("link", { name: "Next page" }).click();
  await expect(page.getByAltText("Page 2 of manual.pdf")).toBeVisible();
  await expect(page.getByText("page 2 of 2")).toBeVisible();
  await expect(page.getByRole("link", { name: "Original" })).toHaveAttribute("href", /original#page=2$/);
  const [large] = await Promise.all([page.waitForEvent("popup"), page.getByAltText("Page 2 of manual.pdf").click()]);
  await expect(large).toHaveURL(/pages\/2\/image\?width=2400$/);
  await large.close();

  await page.goto(box);
  await page.getByRole("link", { name: "parts.csv" }).click();
  await expect(page.locator(".look")).toHaveCount(0);
  await expect(page.locator(".text table tbody tr").first()).toBeVisible();
  await looksRight(page, info, "a table as it is read");
});

test("a citation of an answer is read on its page", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `cites-${tag}@example.org`);
  const box = await makeBox(page, "Citing");
  await upload(page, [samples("manual.pdf")]);
  await page.goto(`${box}/chat`);
  await ask(page, "How often is the filter cleaned?");
  await page.locator(".sources a[data-page]").first().click();
  const panel = page.getByRole("dialog");
  await expect(panel.locator("[data-quote]")).toContainText("filter");
  await pictureWithMarks(panel);
  await looksRight(page, info, "a page beside an answer");
});
