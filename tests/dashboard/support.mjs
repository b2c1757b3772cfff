// What the tests share: a page that must stay quiet and at home, and the things people do.

import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";
import path from "node:path";

export { expect };
export const OPERATOR = "operator@example.org";
export const PASSWORD = "correct horse battery";
// Two halves of the tests run at the same time, each on a server of its own.
export const STATE = `operator-${new URL(process.env.QUIRE_ADDRESS).port}.json`;
export const samples = (name) => path.join(process.env.QUIRE_SAMPLES, name);

/** Watches a page: nothing may be asked of anybody else, nothing may go wrong in its script, no policy be broken. */
function watch(page, { wrongs, allowed }) {
  page.on("dialog", (dialog) => dialog.accept());
  const home = process.env.QUIRE_ADDRESS;
  page.on("request", (request) => {
    const url = request.url();
    // The browser's own PDF reader is made of pages as well; and what a provider's page asks for is not ours.
    const own = ["data:", "blob:", "about:", "chrome:", "chrome-extension:"];
    const fine = [home, ...own, ...allowed].some((start) => url.startsWith(start));
    const theirs = allowed.some((start) => request.frame().url().startsWith(start));
    if (!fine && !theirs) wrongs.push(`asked ${url}`);
  });
  page.on("pageerror", (error) => wrongs.push(`script: ${error.message}`));
  page.on("console", (message) => {
    const text = message.text();
    // Refusals that a test provokes are logged by the browser as well, and so is a script in an original that may not run.
    const provoked = text.includes("Failed to load resource") || /^Blocked script execution in '[^']*\/original'/.test(text);
    const ours = message.location().url.startsWith(home) || message.location().url === "";
    if (message.type() === "error" && ours && !provoked) wrongs.push(`console: ${text}`);
  });
}

export const test = base.extend({
  /** At the end of every test all its pages must have been quiet. */
  quiet: [async ({ allowed }, use, info) => {
    info.wrongs = [];
    info.allowed = allowed;
    await use();
    expect(info.wrongs).toEqual([]);
  }, { auto: true }],
  /** Addresses beside the server's own that a test may go to. */
  allowed: [[], { option: true }],
  /** The same in every test: a name that no other project uses, and no other attempt. */
  tag: async ({}, use, info) => { await use(info.retry ? `${info.project.name}-again` : info.project.name); },
  page: async ({ page }, use, info) => {
    watch(page, info);
    await use(page);
  },
});

/** A page of somebody else, watched as well. */
export async function another(browser, info) {
  const { viewport, colorScheme, isMobile, hasTouch } = info.project.use;
  const context = await browser.newContext({ viewport, colorScheme, isMobile, hasTouch, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  const page = await context.newPage();
  watch(page, info);
  return page;
}

export async function signIn(page, email, password = PASSWORD) {
  await page.goto("/sign-in");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Somebody who follows the operator's invitation from page to page. */
export async function invited(browser, info, email) {
  const context = await browser.newContext({ storageState: STATE, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  const operator = await context.newPage();
  await operator.goto("/operator/users");
  await operator.getByRole("region", { name: "Users" }).waitFor();
  const form = operator.locator("form[action='/operator/users']");
  await form.getByLabel("E-mail address").fill(email);
  await form.getByRole("button", { name: "Create invitation" }).click();
  const link = await operator.locator("#fresh-link").textContent();
  await context.close();
  const page = await another(browser, info);
  await page.goto(link);
  await page.getByLabel("Name").fill(email.split("@")[0]);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create account" }).click();
  await expect(page.getByRole("heading", { name: "Boxes" })).toBeVisible();
  return page;
}

/** An account of its own for a test: the same invitation, sent and accepted without drawing a page. */
export async function newcomer(browser, info, email, plan = "standard") {
  const operator = await browser.newContext({ storageState: STATE, ignoreHTTPSErrors: true, baseURL: process.env.QUIRE_ADDRESS });
  const link = await send(operator, "/operator/users", "/operator/users", { email, plan });
  await operator.close();
  const page = await another(browser, info);
  const path = link.match(/id="fresh-link">[^<]*(\/welcome\?token=[^<]+)</)[1];
  await send(page.context(), path, "/welcome", { token: path.split("=")[1], name: email.split("@")[0], password: PASSWORD });
  return page;
}

/** Sends a form of a page as the page would; gives the text of what comes then. */
export async function send(context, page, action, fields) {
  const csrf = (await (await context.request.get(page)).text()).match(/name="csrf" value="([^"]+)"/)[1];
  const answer = await context.request.post(action, { form: { csrf, ...fields }, headers: { Origin: process.env.QUIRE_ADDRESS } });
  expect(answer.ok(), `${action}: ${answer.status()}`).toBe(true);
  return answer.text();
}

export async function makeBox(page, name) {
  await page.goto("/");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Create box" }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  return page.url();
}

/** Uploads files and waits until all were read. */
export async function upload(page, files) {
  await page.locator("input[data-files]:not([webkitdirectory])").setInputFiles(files);
  await expect(page.locator("[data-summary]")).toContainText(`${files.length} of ${files.length} uploaded`);
  await expect(page.locator("[data-queue] .chip.ready, [data-queue] .chip.ready_with_warnings, [data-queue] .chip.failed")).toHaveCount(files.length, { timeout: 120_000 });
}

/** Asks in a chat, and waits until the answer is there and kept. */
export async function ask(page, question) {
  const turns = page.locator(".turn");
  const before = await turns.count();
  await page.getByLabel("Your question").fill(question);
  await page.keyboard.press("Enter");
  await expect(turns).toHaveCount(before + 2);
  await expect(turns.last()).toContainText(/Cost \d/);
  await expect(turns.last()).not.toHaveClass(/waiting/);
}

/** Opens the menu where it is not always there: on a phone. */
export async function openMenu(page, info) {
  if (info.project.use.isMobile) await page.getByLabel("Menu").click();
}

/** No violation of accessibility at any level, and nothing that has to be scrolled to sideways. */
export async function looksRight(page, info, what) {
  // Colours in the middle of a movement are nobody's choice.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)));
  const found = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]).exclude("iframe").analyze();
  expect(found.violations.map((violation) => `${what}: ${violation.id} at ${violation.nodes.map((node) => node.target).join(", ")}: ${violation.nodes[0].failureSummary}`)).toEqual([]);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over, `${what} is wider than the window`).toBeLessThanOrEqual(0);
}
