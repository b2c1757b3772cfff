// Boxes and what is in them: from nothing to a first answer, and everything that can be done to files.

import { ask, expect, invited, looksRight, makeBox, newcomer, samples, test, upload } from "./support.mjs";

test("from nothing to a first answer", async ({ browser, tag }, info) => {
  const page = await invited(browser, info, `first-${tag}@example.org`);
  await expect(page.getByRole("heading", { name: "Create your first box" })).toBeVisible();
  await looksRight(page, info, "no boxes");
  const box = await makeBox(page, "Machines");
  await expect(page.getByRole("heading", { name: "No files yet" })).toBeVisible();
  await looksRight(page, info, "no files");
  await upload(page, [samples("warranty.md"), samples("safety.html"), samples("manual.pdf"), samples("parts.csv")]);
  await expect(page.locator("tbody tr")).toHaveCount(4);
  await expect(page.locator("tbody .chip.ready")).toHaveCount(4);
  await looksRight(page, info, "files");

  await page.getByRole("navigation", { name: "Box" }).getByRole("link", { name: "Search" }).click();
  await page.getByRole("searchbox").pressSequentially("how often is the filter cleaned");
  const hit = page.locator(".hit").first();
  await expect(hit).toContainText("every two weeks");
  await expect(hit.locator("mark").first()).toBeVisible();
  await expect(page).toHaveURL(/\/search\?query=how\+often/);
  await expect(page.locator(".summary")).toContainText(/cost 1 unit, .* left this month/);
  // In a box as small as this one the closer look costs no more; that it was taken shows in the explanation.
  const closer = hit.locator("th", { hasText: "Reranking" });
  await expect(closer).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(closer).toHaveCount(1);
  await expect(page.locator(".summary")).toContainText(/cost [12] units?, .* left this month/);
  await page.getByLabel("Rerank the best results").uncheck();
  await expect(closer).toHaveCount(0);
  await page.getByLabel("Rerank the best results").check();
  await expect(closer).toHaveCount(1);
  await hit.getByText("Why this rank").click();
  await expect(hit.getByRole("row", { name: /Meaning/ })).toBeVisible();
  await looksRight(page, info, "search");
  await page.getByText("The same search through the API").click();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const [name, part] of [["curl", "curl --cacert"], ["Python", "urllib.request"], ["JavaScript", "await fetch"]]) {
    await page.getByRole("button", { name: `Copy as ${name}` }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(part);
  }
  await hit.locator("a[data-page]").click();
  const panel = page.getByRole("dialog");
  await expect(panel.locator("mark", { hasText: "every two weeks" })).toBeVisible();
  await looksRight(page, info, "page preview");
  await panel.getByRole("button", { name: "Close" }).click();
  await expect(panel).toBeHidden();

  await page.getByRole("navigation", { name: "Box" }).getByRole("link", { name: "Chat" }).click();
  await ask(page, "How long does the warranty of the machine last?");
  const answer = page.locator(".turn.answer").first();
  await expect(answer).toContainText("two years");
  await expect(answer).toContainText(/Cost \d+ unit/);
  await looksRight(page, info, "chat");
  await answer.locator("a.cite").first().click();
  await expect(page.getByRole("dialog").locator("mark", { hasText: "two years" })).toBeVisible();
  await page.getByRole("dialog").getByRole("link", { name: "Open the file here" }).click();
  await expect(page.locator("mark", { hasText: "two years" })).toBeInViewport();
  await looksRight(page, info, "file at its quote");
});

test("whole folders are uploaded, and what cannot be read says why", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `folder-${tag}@example.org`);
  await makeBox(page, "Letters");
  await page.locator("input[webkitdirectory]").setInputFiles(samples("letters"));
  await expect(page.locator("[data-summary]")).toHaveText(/^2 of 2 uploaded/);
  await expect(page.locator("tbody").getByText("motor.txt")).toBeVisible();
  await upload(await again(page), [samples("broken.pdf")]);
  const row = page.locator("tr", { hasText: "broken.pdf" });
  await expect(row.locator(".chip")).toHaveText("Failed");
  await expect(row.locator("[data-reason]")).not.toBeEmpty();
  await page.locator("input[data-files]:not([webkitdirectory])").setInputFiles({ name: "huge.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(3 * 1024 * 1024, 7) });
  await expect(page.locator("[data-queue] li.wrong")).toContainText("larger than 2 MB");
  await looksRight(page, info, "uploads that failed");
});

/** The page anew, with an empty queue. */
async function again(page) {
  await page.reload();
  return page;
}

test("files are dropped onto the page", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `drop-${tag}@example.org`);
  await makeBox(page, "Dropped");
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["The blue valve opens to the left."], "valve.txt", { type: "text/plain" }));
    transfer.items.add(new File(["The green valve opens to the right."], "other.txt", { type: "text/plain" }));
    return transfer;
  });
  await page.dispatchEvent("[data-upload]", "dragenter", { dataTransfer: data });
  await expect(page.locator("[data-upload]")).toHaveClass(/over/);
  await page.dispatchEvent("[data-upload]", "drop", { dataTransfer: data });
  await expect(page.locator("[data-summary]")).toHaveText(/^2 of 2 uploaded/);
  await expect(page.locator("tbody .chip.ready")).toHaveCount(2);
});

test("files are filtered, sorted, labelled, looked at and deleted with a receipt", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `files-${tag}@example.org`);
  const box = await makeBox(page, "Everything");
  await upload(page, [samples("warranty.md"), samples("safety.html"), samples("manual.pdf"), samples("parts.csv")]);
  const listed = (...names) => expect(page.locator("tbody th a")).toHaveText(names);
  await page.getByRole("link", { name: "Name" }).click();
  await listed("manual.pdf", "parts.csv", "safety.html", "warranty.md");
  await page.getByRole("link", { name: "Name" }).click();
  await listed("warranty.md", "safety.html", "parts.csv", "manual.pdf");
  await page.getByLabel("Part of the name").fill("AR");
  await page.getByRole("button", { name: "Filter" }).click();
  await listed("warranty.md", "parts.csv");
  await page.getByLabel("Select all on this page").check();
  await expect(page.locator("[data-count]")).toHaveText("2 selected");
  await looksRight(page, info, "files selected");
  await page.getByLabel("Labels to add").fill("checked, spring");
  await page.getByRole("button", { name: "Add labels" }).click();
  await expect(page.getByRole("status")).toContainText("2 files labelled");
  await page.goto(`${box}?tag=spring`);
  await expect(page.locator("tbody tr")).toHaveCount(2);
  await page.goto(`${box}?status=failed`);
  await expect(page.getByText("No files match.")).toBeVisible();

  await page.goto(`${box}?q=manual`);
  await page.getByRole("link", { name: "manual.pdf" }).click();
  await expect(page.locator(".text")).toContainText("4 litres of distilled water");
  await expect(page.getByRole("link", { name: "Original" })).toHaveAttribute("href", /original#page=1$/);
  await page.getByRole("link", { name: "Next page" }).click();
  await expect(page.locator(".text")).toContainText("Clean the filter");
  await looksRight(page, info, "a file");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).first().click()]);
  expect(download.suggestedFilename()).toBe("manual.pdf");
  await page.getByRole("link", { name: "Processing report" }).click();
  await expect(page.getByText("2 of 2 pages read")).toBeVisible();
  await expect(page.locator("tbody tr")).toHaveCount(2);
  await looksRight(page, info, "report");
  await page.getByRole("link", { name: "manual.pdf" }).click();
  await page.getByLabel("Name", { exact: true }).fill("handbook.pdf");
  await page.getByLabel("Labels").fill("kept");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { name: "handbook.pdf" })).toBeVisible();
  await page.getByRole("button", { name: "Reprocess" }).click();
  await expect(page.getByRole("status")).toHaveText("The file is being processed again.");
  await page.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("status", { name: "Receipt" })).toContainText("2 pages");
  await looksRight(page, info, "receipt");

  // An original with a script in it: it is shown, and the script is not run.
  await page.goto(`${box}?q=safety`);
  await page.getByRole("link", { name: "safety.html" }).click();
  await expect(page.locator(".text")).toContainText("71 decibels");
  const [original] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: "Original" }).click()]);
  await expect(original.getByText("71 decibels")).toBeVisible();
  await original.close();
  await expect(page).toHaveTitle(/safety\.html/);

  await page.goto(box);
  await page.getByLabel("Select parts.csv").check();
  await page.getByLabel("Select safety.html").check();
  await page.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByRole("status", { name: "Receipt" }).getByRole("listitem")).toHaveCount(2);
  await listed("warranty.md");
});

test("members: added, invited, changed, removed; each sees what they may", async ({ browser, tag }, info) => {
  const owner = await newcomer(browser, info, `owner-${tag}@example.org`);
  const known = await newcomer(browser, info, `known-${tag}@example.org`);
  const box = await makeBox(owner, "Shared");
  await upload(owner, [samples("warranty.md")]);
  await owner.getByRole("navigation", { name: "Box" }).getByRole("link", { name: "Members" }).click();
  await owner.getByLabel("E-mail address").fill(`known-${tag}@example.org`);
  await owner.locator("form[action$='/members'] select").selectOption("viewer");
  await owner.getByRole("button", { name: "Add" }).click();
  await expect(owner.getByRole("status")).toHaveText("The member has been added.");
  await looksRight(owner, info, "members");

  await known.goto(box);
  await expect(known.getByText("warranty.md")).toBeVisible();
  await expect(known.getByText("Drop files or folders here")).toHaveCount(0);
  await expect(known.getByRole("link", { name: "Settings" })).toHaveCount(0);
  expect((await known.goto(`${box}/settings`)).status()).toBe(403);
  await looksRight(known, info, "refused");
  await known.goto(`${box}/search`);
  await known.getByRole("searchbox").fill("where are repairs made");
  await known.getByRole("button", { name: "Search" }).click();
  await expect(known.locator(".hit").first()).toContainText("Lyon");

  await owner.getByLabel("E-mail address").fill(`guest-${tag}@example.org`);
  await owner.locator("form[action$='/members'] select").selectOption("editor");
  await owner.getByRole("button", { name: "Add" }).click();
  await expect(owner.getByText("The invitation stays open for 14 days.")).toBeVisible();
  await expect(owner.locator("#fresh-link")).toHaveCount(0);
  await looksRight(owner, info, "an invitation");
  // Only an operator makes accounts; then the guest is a member at once.
  const guest = await newcomer(browser, info, `guest-${tag}@example.org`);
  await guest.goto(box);
  await expect(guest.getByText("Drop files or folders here")).toBeVisible();

  await owner.goto(`${box}/members`);
  await owner.getByLabel(`Role of guest-${tag}@example.org`).selectOption("viewer");
  await owner.getByRole("button", { name: `Save role of guest-${tag}@example.org` }).click();
  await expect(owner.getByRole("status")).toContainText("role has been changed");
  await guest.goto(box);
  await expect(guest.getByText("Drop files or folders here")).toHaveCount(0);
  await owner.getByRole("button", { name: `Remove guest-${tag}@example.org` }).click();
  await expect(owner.getByRole("status")).toHaveText("The member has been removed.");
  expect((await guest.goto(box)).status()).toBe(403);
  // The last owner stays.
  await owner.getByRole("button", { name: `Remove owner-${tag}@example.org` }).click();
  await expect(owner.getByText("must have at least one owner")).toBeVisible();

  await owner.goto(`${box}/members`);
  await owner.getByLabel("E-mail address").fill(`late-${tag}@example.org`);
  await owner.getByRole("button", { name: "Add" }).click();
  await owner.getByRole("button", { name: `Withdraw late-${tag}@example.org` }).click();
  await expect(owner.getByRole("status")).toHaveText("The invitation has been withdrawn.");

  // Handed over: the viewer owns it now.
  await owner.goto(`${box}/settings`);
  await owner.getByLabel("New owner").selectOption({ label: `known-${tag}@example.org (viewer)` });
  await owner.getByRole("button", { name: "Hand over" }).click();
  await expect(owner.getByRole("status")).toHaveText("The box has been handed over.");
  await known.goto(`${box}/settings`);
  await expect(known.getByRole("heading", { name: "Delete this box" })).toBeVisible();
});

test("settings: renamed, and deleted only by its typed name; the log knows", async ({ browser, tag }, info) => {
  const page = await newcomer(browser, info, `settings-${tag}@example.org`);
  const box = await makeBox(page, "Old name");
  await upload(page, [samples("parts.csv")]);
  await page.goto(`${box}/settings`);
  await looksRight(page, info, "settings");
  await page.getByLabel("Name", { exact: true }).fill("New name");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "New name" })).toBeVisible();
  await page.getByRole("navigation", { name: "Box" }).getByRole("link", { name: "Audit log" }).click();
  await expect(page.getByRole("row", { name: /Box renamed Old name to New name/ })).toBeVisible();
  await expect(page.getByRole("row", { name: /File uploaded parts.csv/ })).toBeVisible();
  await looksRight(page, info, "audit log");
  for (const kind of ["CSV", "JSON"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: `Export as ${kind}` }).click()]);
    expect(download.suggestedFilename()).toBe(`audit.${kind.toLowerCase()}`);
  }
  await page.goto(`${box}/settings`);
  const remove = page.getByRole("button", { name: "Delete box" });
  await expect(remove).toBeDisabled();
  await page.getByLabel(/to confirm/).fill("new name");
  await expect(remove).toBeDisabled();
  await page.getByLabel(/to confirm/).fill("New name");
  await remove.click();
  await expect(page.getByRole("status")).toHaveText("The box and everything in it have been deleted.");
  expect((await page.goto(box)).status()).toBe(403);
});
