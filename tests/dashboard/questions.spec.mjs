// Saying what an answer was worth, and what the owners of a box learn from it.

import { ask, expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("an answer is rated, and its question is listed for the owner", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `rates-${tag}@example.org`);
  const box = await makeBox(page, "Rating");
  await upload(page, [samples("warranty.md")]);
  await page.goto(`${box}/chat`);
  await ask(page, "How long is the warranty of the machine?");
  const answer = page.locator(".turn.answer").last();
  const down = answer.getByRole("button", { name: "This answer did not help" });
  await down.click();
  await expect(down).toHaveAttribute("aria-pressed", "true");
  await expect(answer.getByRole("status")).toHaveText("Thank you.");
  await looksRight(page, info, "an answer that is rated");
  await answer.getByLabel("Why").fill("It is three years since May.");
  await answer.getByRole("button", { name: "Send" }).click();
  await expect(answer.getByRole("status")).toHaveText("Thank you for saying why.");
  // Coming back, the answer is still there to be rated, and says how it was.
  await page.reload();
  await expect(page.locator(".turn.answer").getByRole("button", { name: "This answer did not help" })).toHaveAttribute("aria-pressed", "true");
  await page.locator(".turn.answer").getByRole("button", { name: "This answer helped" }).click();
  await expect(page.locator(".turn.answer").getByRole("button", { name: "This answer did not help" })).toHaveAttribute("aria-pressed", "false");
  await page.locator(".turn.answer").getByRole("button", { name: "This answer did not help" }).click();
  await expect(page.locator(".turn.answer").getByRole("status")).toHaveText("Thank you.");
  await page.locator(".turn.answer").getByLabel("Why").fill("It is three years since May.");
  await page.locator(".turn.answer").getByRole("button", { name: "Send" }).click();
  await expect(page.locator(".turn.answer").getByRole("status")).toHaveText("Thank you for saying why.");

  await page.goto(box);
  await page.getByRole("navigation", { name: "Box" }).getByRole("link", { name: "Questions" }).click();
  const line = page.getByRole("row", { name: /How long is the warranty of the machine/ });
  await expect(line).toContainText("disliked");
  await expect(line).toContainText("It is three years since May.");
  await looksRight(page, info, "questions");
  await page.getByText("As an evaluation set").click();
  await expect(page.locator("#evaluation-set")).toContainText('"question":"How long is the warranty of the machine?"');
  await page.getByRole("button", { name: "Copy" }).click();
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  await looksRight(page, info, "an evaluation set");
  await page.getByRole("link", { name: "Little found" }).click();
  await expect(page.getByRole("link", { name: "Little found" })).toHaveAttribute("aria-current", "page");
});
