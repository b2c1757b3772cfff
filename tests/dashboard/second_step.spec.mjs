// The second step of signing in.

import { createHmac } from "node:crypto";
import jsqr from "jsqr";
import { PASSWORD, another, expect, looksRight, newcomer, signIn, test } from "./support.mjs";

/** What an authenticator app shows so many half minutes from now. */
function codeOf(written, later = 0) {
  const bits = [...written.replaceAll(" ", "")].map((digit) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(digit).toString(2).padStart(5, "0")).join("");
  const secret = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30_000) + later));
  const tag = createHmac("sha1", secret).update(step).digest();
  const number = tag.readUInt32BE(tag[19] & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

/** What a camera reads from the page. */
async function scanned(page) {
  const picture = page.getByRole("img", { name: "QR code" }), scale = 4;
  const side = Number((await picture.getAttribute("viewBox")).split(" ")[2]) * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (const [, x, y] of (await picture.locator("path").getAttribute("d")).matchAll(/M(\d+) (\d+)/g)) {
    for (let row = y * scale; row < (Number(y) + 1) * scale; row++) {
      for (let column = x * scale; column < (Number(x) + 1) * scale; column++) pixels.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
    }
  }
  return jsqr(pixels, side, side)?.data;
}

test("a code is asked for after the password", async ({ browser, tag }, info) => {
  const email = `steps-${tag}@example.org`;
  const page = await newcomer(browser, info, email);
  await page.goto("/account/profile");
  await page.getByRole("link", { name: "Set up a second step" }).click();
  await page.getByLabel("Current password").fill("not this one");
  await page.getByRole("button", { name: "Set up" }).click();
  await expect(page.getByRole("alert")).toContainText("wrong");
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByRole("button", { name: "Set up" }).click();
  const written = await page.locator("#second-step-secret").textContent();
  expect(await scanned(page)).toBe(await page.getByRole("link", { name: "open the app with it" }).getAttribute("href"));
  expect(await scanned(page)).toContain(`secret=${written.replaceAll(" ", "")}`);
  await looksRight(page, info, "a second step is set up");
  await page.getByLabel("The code that it shows now").fill("123");
  await page.getByRole("button", { name: "Turn on" }).click();
  await expect(page.getByRole("alert")).toContainText("not the code");
  await page.getByLabel("The code that it shows now").fill(codeOf(written));
  await page.getByRole("button", { name: "Turn on" }).click();
  const codes = (await page.locator("#recovery-codes").textContent()).trim().split("\n");
  expect(codes).toHaveLength(10);
  await looksRight(page, info, "recovery codes");
  await page.reload();
  await expect(page.locator("#recovery-codes")).toHaveCount(0);
  await expect(page.getByText("10 recovery codes are left")).toBeVisible();

  const elsewhere = await another(browser, info);
  await signIn(elsewhere, email);
  await expect(elsewhere.getByRole("heading", { name: "Second step" })).toBeVisible();
  await looksRight(elsewhere, info, "a code is asked for");
  await elsewhere.getByLabel("Code").fill("000");
  await elsewhere.getByRole("button", { name: "Sign in" }).click();
  await expect(elsewhere.getByRole("alert")).toContainText("The code is wrong");
  await looksRight(elsewhere, info, "a wrong code");
  await elsewhere.getByLabel("Code").fill(codes[0]);
  await elsewhere.getByRole("button", { name: "Sign in" }).click();
  await expect(elsewhere.getByRole("heading", { name: "Boxes" })).toBeVisible();

  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("Code").fill(codes[1]);
  await page.getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("status")).toHaveText("The second step has been turned off.");
  await looksRight(page, info, "no second step");
});
