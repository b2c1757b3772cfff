// Passkeys, with an authenticator that the browser plays. They need an address with a name, so these pages are at localhost.

import { PASSWORD, another, expect, looksRight, newcomer, openMenu, test } from "./support.mjs";

const HOME = process.env.QUIRE_ADDRESS.replace("127.0.0.1", "localhost");
test.use({ allowed: [HOME] });

test("a passkey is added, signs in without a password, and is removed", async ({ browser, tag }, info) => {
  const email = `passkeys-${tag}@example.org`;
  const nameless = await newcomer(browser, info, email);
  await nameless.goto("/account/passkeys");
  await expect(nameless.getByText("not at its IP address")).toBeVisible();
  await looksRight(nameless, info, "no passkeys at an IP address");
  await nameless.context().clearCookies();
  await nameless.goto("/sign-in");
  await expect(nameless.getByRole("button", { name: "Sign in", exact: true })).toBeVisible();
  await expect(nameless.getByRole("button", { name: "Sign in with a passkey" })).toHaveCount(0);

  const page = await another(browser, info);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true };
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", { options });
  await page.goto(`${HOME}/sign-in`);
  await expect(page.getByRole("button", { name: "Sign in with a passkey" })).toBeVisible();
  await looksRight(page, info, "sign-in with passkeys");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Boxes" })).toBeVisible();

  await page.goto(`${HOME}/account/profile`);
  await page.getByRole("link", { name: "Manage passkeys" }).click();
  await expect(page.getByText("No passkeys yet.")).toBeVisible();
  const add = page.locator("form[data-passkey=make]");
  await add.getByLabel("Name").fill("Work laptop");
  await add.getByLabel("Current password").fill("not this one");
  await add.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByRole("alert")).toContainText("wrong");
  await add.getByLabel("Current password").fill(PASSWORD);
  await add.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByRole("status")).toHaveText("The passkey has been added; you can now sign in with it.");
  await expect(page.getByRole("listitem").filter({ hasText: "Work laptop" })).toContainText("for localhost, added");
  await looksRight(page, info, "a passkey was added");
  await add.getByLabel("Name").fill("The same again");
  await add.getByLabel("Current password").fill(PASSWORD);
  await add.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByRole("alert")).toHaveText("This device already has a passkey of your account.");

  await openMenu(page, info);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("status")).toHaveText("You are signed out.");
  await page.goto(`${HOME}/sign-in?next=${encodeURIComponent("/account/passkeys")}`);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Work laptop" })).toContainText("last used");

  const remove = page.locator("form[action='/account/passkeys/remove']");
  await remove.getByLabel("Current password").fill(PASSWORD);
  await remove.getByRole("button", { name: "Remove a passkey" }).click();
  await expect(page.getByRole("status")).toHaveText("The passkey has been removed.");
  await expect(page.getByText("No passkeys yet.")).toBeVisible();

  // The authenticator still has it, the server does not.
  expect((await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials).toHaveLength(1);
  await openMenu(page, info);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page.getByRole("alert")).toHaveText("This passkey lets nobody in here. Sign in in another way.");
  await looksRight(page, info, "a passkey that is not known");
});
