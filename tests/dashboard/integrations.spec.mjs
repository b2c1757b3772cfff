// Setting up other programs.

import { expect, looksRight, makeBox, newcomer, test } from "./support.mjs";

test("set-ups name this server and the chosen box, and are copied", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `connects-${tag}@example.org`);
  await page.goto("/account/integrations");
  await expect(page.getByText("BOX_ID").first()).toBeVisible();
  await makeBox(page, "Manuals");
  const box = (await makeBox(page, "Papers")).split("/boxes/")[1];
  if (info.project.use.isMobile) await page.getByLabel("Menu").click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Integrations" }).click();
  await page.getByLabel("Box").selectOption("Papers");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(new RegExp(`box=${box}`));
  for (const name of ["Claude", "ChatGPT", "Cursor", "Open WebUI", "Dify", "n8n", "curl", "Python", "TypeScript"]) {
    await expect(page.getByRole("region", { name }).locator("pre").first()).toContainText(process.env.QUIRE_ADDRESS);
  }
  const dify = page.getByRole("region", { name: "Dify" });
  await expect(dify.locator("pre").nth(1)).toHaveText(box);
  await expect(page.getByRole("region", { name: "curl" })).toContainText(`--cacert quire-cert.pem`);
  await page.getByRole("button", { name: "Copy Endpoint for Dify" }).click();
  await expect(dify.getByText("Copied")).toBeVisible();
  await looksRight(page, info, "integrations");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "download quire-cert.pem" }).click()]);
  expect(download.suggestedFilename()).toBe("quire-cert.pem");
});
