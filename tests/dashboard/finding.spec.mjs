// Finding things, in one box and in all of them; describing files; webhooks; colours.

import { expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("a search is narrowed, stays in the address, and looks into all boxes", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `find-${tag}@example.org`);
  const machines = await makeBox(page, "Machines");
  await upload(page, [samples("warranty.md"), samples("manual.pdf"), samples("safety.html")]);
  await makeBox(page, "Letters");
  await page.locator("input[webkitdirectory]").setInputFiles(samples("letters"));
  await expect(page.locator("tbody .chip.ready")).toHaveCount(2);
  await page.goto(`${machines}/search`);
  await page.getByText("Filters", { exact: true }).click();
  await page.getByLabel("Kind").selectOption("PDF");
  await page.getByRole("searchbox").fill("how often is the filter cleaned");
  await page.keyboard.press("Enter");
  await expect(page.locator(".hit").first()).toContainText("every two weeks");
  await expect(page.locator(".hit .where a")).toHaveText([/manual\.pdf/, /manual\.pdf/]);
  await expect(page).toHaveURL(/kind=pdf/);
  await looksRight(page, info, "search with filters");
  await page.reload();
  await expect(page.getByLabel("Kind")).toHaveValue("pdf");
  await expect(page.locator(".hit").first()).toContainText("every two weeks");
  await page.getByLabel("Added from").fill("2090-01-01");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.locator(".summary")).toContainText("with these filters");

  if (info.project.use.isMobile) await page.getByLabel("Menu").click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Search" }).click();
  await expect(page.getByText("In all your 2 boxes at once.")).toBeVisible();
  await page.getByRole("searchbox").fill("how long is the warranty of the machine");
  await page.keyboard.press("Enter");
  await expect(page.locator(".hit").first()).toContainText("in Machines");
  await looksRight(page, info, "search in all boxes");
  await page.locator(".hit a[data-page]").first().click();
  await expect(page.getByRole("dialog").locator("mark", { hasText: "two years" })).toBeVisible();
});

test("a text is added and described", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `add-${tag}@example.org`);
  const box = await makeBox(page, "Texts");
  await page.getByText(/^Add a text/).click();
  await page.getByLabel("Name", { exact: true }).fill("Opening hours");
  await page.getByLabel("Text", { exact: true }).fill("# Opening hours\n\nWe are open from nine to five.");
  await page.getByRole("button", { name: "Add text" }).click();
  await expect(page.locator("tbody tr", { hasText: "Opening hours.md" }).locator(".chip.ready")).toBeVisible();
  await looksRight(page, info, "a text was added");
  await page.goto(box);
  await page.getByRole("link", { name: "Opening hours.md" }).click();
  const described = page.url();
  await page.getByLabel("New key").fill("department");
  await page.getByLabel("New value").first().fill("sales");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByLabel("Value of department")).toHaveValue("sales");
  await looksRight(page, info, "metadata");
  await page.goto(`${box}/search`);
  await page.getByText("Filters", { exact: true }).click();
  await page.getByLabel("Key", { exact: true }).fill("department");
  await page.getByLabel("Comparison").selectOption("contains");
  await page.getByLabel("Value", { exact: true }).fill("Sale");
  await page.getByRole("searchbox").fill("when is it open");
  await page.keyboard.press("Enter");
  await expect(page.locator(".hit").first()).toContainText("nine to five");
  await expect(page).toHaveURL(/entry=department&compare=contains&value=Sale/);
  await looksRight(page, info, "search by metadata");
  await page.getByLabel("Comparison").selectOption("is");
  await page.getByRole("button", { name: "Search" }).click();
  await expect(page.locator(".summary")).toContainText("with these filters");
  await page.goto(described);
  await page.getByRole("button", { name: "Remove department" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toHaveText(/^The file has been changed\.\s*Undo$/);
  await expect(page.getByLabel("Value of department")).toHaveCount(0);
});

test("webhooks are listed, and said to be off where they are", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `hooks-${tag}@example.org`);
  await page.goto("/account/webhooks");
  await expect(page.getByText("This server does not send events")).toBeVisible();
  await expect(page.getByRole("button", { name: "Create webhook" })).toBeDisabled();
  await looksRight(page, info, "webhooks");
});

test("colours are chosen and kept", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `theme-${tag}@example.org`);
  await page.goto("/account/profile");
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByLabel("Colours in this browser").selectOption("light");
  const light = await paper();
  await page.getByLabel("Colours in this browser").selectOption("dark");
  const dark = await paper();
  expect(light).not.toBe(dark);
  await page.reload();
  expect(await paper()).toBe(dark);
  await looksRight(page, info, "dark by choice");
});
