// Coming in and going out: passwords, sign-ins, an account elsewhere.

import { PASSWORD, another, expect, looksRight, newcomer, openMenu, signIn, test } from "./support.mjs";

test("signing in says what is wrong, lets in, and lets out again", async ({ page, browser, tag }, info) => {
  const email = `in-${tag}@example.org`;
  await (await newcomer(browser, info, email)).context().close();
  await page.goto("/account/keys");
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await looksRight(page, info, "sign in");
  await signIn(page, email, "not the password");
  await expect(page.getByRole("alert")).toHaveText("The address or the password is wrong.");
  await looksRight(page, info, "sign in, refused");
  await page.goto("/sign-in?next=/account/keys");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "API keys" })).toBeVisible();
  const cookies = (await page.context().cookies()).sort((one, other) => one.name.localeCompare(other.name));
  expect(cookies.map(({ name, httpOnly, secure, sameSite }) => ({ name, httpOnly, secure, sameSite }))).toEqual([
    { name: "__Host-quire", httpOnly: true, secure: true, sameSite: "Lax" },
    { name: "__Host-quire-known", httpOnly: true, secure: true, sameSite: "Lax" }]);
  expect(await page.evaluate(() => document.cookie)).toBe("");
  await openMenu(page, info);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("status")).toHaveText("You are signed out.");
  await page.goto("/account/keys");
  await expect(page).toHaveURL(/\/sign-in/);
});

test("a profile: name, password, and every sign-in ended", async ({ browser, tag }, info) => {
  const email = `profile-${tag}@example.org`;
  const page = await newcomer(browser, info, email);
  const other = await another(browser, info);
  await signIn(other, email);
  await expect(other.getByRole("heading", { name: "Boxes" })).toBeVisible();
  await page.goto("/account/profile");
  await looksRight(page, info, "profile");
  await page.getByLabel("Name").fill("Petra Petrov");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status")).toHaveText("Your profile has been saved.");
  await expect(page.getByLabel("Name")).toHaveValue("Petra Petrov");
  await expect(page.locator(".plain > li")).toHaveCount(2);
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("New password").fill("another good password");
  await page.getByRole("button", { name: "Change password" }).click();
  await expect(page.getByRole("status")).toContainText("password has been changed");
  await expect(page.locator(".plain > li")).toHaveCount(1);
  await other.goto("/");
  await expect(other).toHaveURL(/sign-in/);
  await signIn(other, email, "another good password");
  await expect(other.getByRole("heading", { name: "Boxes" })).toBeVisible();
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await expect(page.getByRole("status")).toHaveText("You are signed out everywhere.");
  await other.reload();
  await expect(other).toHaveURL(/sign-in/);
});

test.describe("with an account elsewhere", () => {
  test.use({ allowed: ["http://127.0.0.1:"] });

  async function elsewhere(page, name) {
    await page.goto("/sign-in");
    await page.getByRole("link", { name: "Sign in with the test provider" }).click();
    await page.locator("input[name=login]").fill(name);
    await page.locator("input[name=password]").fill("anything");
    await page.getByRole("button", { name: /sign-in/i }).click();
    await page.getByRole("button", { name: /continue/i }).click();
  }

  test("somebody whom the provider vouches for is let in, and is the same the next time", async ({ page, browser, tag }, info) => {
    await elsewhere(page, `olaf-${tag}`);
    await expect(page.getByRole("heading", { name: "Boxes" })).toBeVisible();
    await page.goto("/account/profile");
    await expect(page.getByText(`olaf-${tag}@example.org`, { exact: true })).toBeVisible();
    await expect(page.getByLabel("Name")).toHaveValue(`olaf-${tag} of elsewhere`);
    await expect(page.getByRole("heading", { name: "Set a password" })).toBeVisible();
    const again = await another(browser, info);
    await elsewhere(again, `olaf-${tag}`);
    await expect(again.getByRole("heading", { name: "Boxes" })).toBeVisible();
  });

  test("an account with a password is connected by whoever knows it, and by nobody else", async ({ page, browser, tag }, info) => {
    const holder = await newcomer(browser, info, `held-${tag}@example.org`);
    await elsewhere(page, `held-${tag}`);
    await expect(page.getByText("it is not confirmed as yours")).toBeVisible();
    await looksRight(page, info, "an account that somebody holds");
    await holder.goto("/account/profile");
    await holder.getByLabel("Your password").fill(PASSWORD);
    await holder.getByRole("button", { name: "Connect the test provider" }).click();
    await holder.locator("input[name=login]").fill(`held-${tag}`);
    await holder.locator("input[name=password]").fill("anything");
    await holder.getByRole("button", { name: /sign-in/i }).click();
    await holder.getByRole("button", { name: /continue/i }).click();
    await expect(holder.getByRole("status")).toContainText("Your account is connected");
    const again = await another(browser, info);
    await elsewhere(again, `held-${tag}`);
    await expect(again.getByRole("heading", { name: "Boxes" })).toBeVisible();
  });

  test("an address that nobody vouches for opens no account", async ({ page, tag }) => {
    await elsewhere(page, `unproven-${tag}`);
    await expect(page.getByText("does not confirm an e-mail address")).toBeVisible();
    await page.goto("/");
    await expect(page).toHaveURL(/sign-in/);
  });

  test("a way back that was not begun here leads nowhere", async ({ page }) => {
    const answer = await page.goto("/sign-in/oidc/callback?code=stolen&state=guessed");
    expect(answer.status()).toBe(400);
    await page.goto("/");
    await expect(page).toHaveURL(/sign-in/);
  });
});
