// The very first visit: the set-up link that the server printed, once.

import { OPERATOR, PASSWORD, STATE, expect, test } from "./support.mjs";

test("the printed link makes the first account, and works once", async ({ page, browser }) => {
  await page.goto("/");
  await expect(page.getByText("set-up link that it printed")).toBeVisible();
  await page.goto(process.env.QUIRE_SET_UP);
  await expect(page.getByRole("heading", { name: "Welcome to quire" })).toBeVisible();
  await page.getByLabel("E-mail address").fill(OPERATOR);
  await page.getByLabel("Name").fill("Olga Operator");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { name: "Create your first box" })).toBeVisible();
  await page.context().storageState({ path: STATE });
  const other = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  const again = await other.newPage();
  const answer = await again.goto(process.env.QUIRE_SET_UP);
  expect(answer.status()).toBe(404);
  await expect(again.getByText("already been used")).toBeVisible();
});
