// Measuring a box: questions from what was asked and by hand, evaluations, and their history.

import { ask, expect, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("a box is measured: evaluation set, evaluations and their history", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `measures-${tag}@example.org`);
  const box = await makeBox(page, "Measuring");
  await upload(page, [samples("warranty.md")]);

  // What was not answered goes into the set with one click.
  await page.goto(`${box}/chat`);
  const missing = "Which volcano erupted near Naples?";
  await ask(page, missing);
  await page.goto(`${box}/questions`);
  const asked = page.getByRole("row", { name: new RegExp("volcano") });
  await asked.getByRole("button", { name: "Add to evaluation set" }).click();
  await expect(page.getByRole("status")).toHaveText("One question has been put into the evaluation set.");
  await expect(asked).toContainText("in the evaluation set");
  await looksRight(page, info, "questions in the evaluation set");

  // Another one by hand; a mistake is told beside its field.
  await page.getByRole("link", { name: "Evaluation", exact: true }).click();
  const form = page.locator(`form[action$="/evaluation"]`);
  await form.getByLabel("Question", { exact: true }).fill("How long is the warranty of the machine?");
  await form.getByLabel("What the answer must say").fill("nine years");
  await form.getByLabel("Right files").fill("#page=3");
  await form.getByRole("button", { name: "Add question" }).click();
  await expect(form.getByRole("alert")).toContainText("names of files");
  await form.getByLabel("Right files").fill("warranty.md");
  await form.getByRole("button", { name: "Add question" }).click();
  const row = page.getByRole("region", { name: "Evaluation set" }).getByRole("row", { name: /How long is the warranty/ });
  await expect(row).toContainText("nine years");
  await expect(page.getByText("2 questions are asked.")).toBeVisible();
  await looksRight(page, info, "an evaluation set");

  // The first evaluation shows what is wrong, without a reload.
  await page.getByRole("button", { name: "Evaluate now" }).click();
  const detail = page.getByRole("region", { name: /Question by question/ });
  await expect(detail.getByRole("row", { name: /How long is the warranty/ })).toContainText("does not say “nine years”");
  await looksRight(page, info, "a first evaluation");

  // What is right is corrected, and the second one is plotted beside the first.
  await row.getByText("Edit").click();
  await row.getByLabel("What the answer must say").fill("two years | 24 months");
  await row.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toHaveText("What is right for the question has been saved.");
  await page.getByRole("button", { name: "Evaluate now" }).click();
  const history = page.getByRole("region", { name: "History" });
  await expect(history.locator("tbody tr")).toHaveCount(2);
  await expect(history.getByRole("img", { name: /evaluation by evaluation/ })).toBeVisible();
  await expect(history.locator("tbody tr").first()).toContainText("100%");
  await looksRight(page, info, "the history of evaluations");

  // The set goes out as quire eval reads it, and comes in like that.
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download 2 as JSONL" }).click()]);
  expect(download.suggestedFilename()).toBe("questions.jsonl");
  await page.getByLabel("Questions, one per line").fill('{"question": "Who repairs it?", "answer": "the workshop"}');
  await page.getByRole("button", { name: "Add questions" }).click();
  await expect(page.getByRole("region", { name: "Evaluation set" })).toContainText("3 questions of at most 500");
  await page.getByRole("button", { name: "Remove Who repairs it?" }).click();
  await expect(page.getByRole("status")).toHaveText("The question has been removed from the evaluation set.");
});
