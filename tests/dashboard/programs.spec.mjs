// A program asks to be let in; a person reads, decides, and ends it again.

import { createHash, randomBytes } from "node:crypto";
import http from "node:http";

import { makeBox, expect, looksRight, newcomer, test } from "./support.mjs";

/** A program that waits on this machine for the person to come back. */
async function program() {
  const asked = [];
  const server = http.createServer((request, response) => {
    if (request.url.startsWith("/back")) asked.push(new URL(request.url, "http://127.0.0.1").searchParams);
    response.setHeader("Content-Type", "text/html").end("<title>A desk</title>You can go back to your desk now.");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { asked, back: `http://127.0.0.1:${server.address().port}/back`, close: () => server.close() };
}

test.describe("letting a program in", () => {
  test.use({ allowed: ["http://127.0.0.1:"] });

  test("a person sees who asks, declines, lets it in, and ends it", async ({ browser, tag }, info) => {
    const page = await newcomer(browser, info, `programs-${tag}@example.org`);
    await makeBox(page, `Desk ${tag}`);
    const desk = await program();
    const home = process.env.QUIRE_ADDRESS;
    const registered = await page.request.post("/oauth/register", { data: { client_name: "A desk", redirect_uris: ["http://127.0.0.1/back"] } });
    const { client_id } = await registered.json();
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const asking = "/oauth/authorize?" + new URLSearchParams({
      response_type: "code", client_id, redirect_uri: desk.back, state: "s", code_challenge: challenge, code_challenge_method: "S256",
      resource: `${home}/mcp` });

    await page.goto(asking);
    await expect(page.getByRole("heading", { name: "Let A desk in?" })).toBeVisible();
    await expect(page.getByText(desk.back)).toBeVisible();
    await expect(page.getByText(`Desk ${tag}`)).toBeVisible();
    await looksRight(page, info, "let a program in");
    await page.getByRole("button", { name: "Decline" }).click();
    await expect(page).toHaveTitle("A desk");
    expect(desk.asked[0].get("error")).toBe("access_denied");

    await page.goto(asking);
    await page.getByRole("button", { name: "Let it in" }).click();
    await expect(page).toHaveTitle("A desk");
    const [, { iss, code }] = desk.asked.map((answer) => Object.fromEntries(answer));
    expect(iss).toBe(home);
    const exchanged = await page.request.post("/oauth/token", {
      form: { grant_type: "authorization_code", code, client_id, redirect_uri: desk.back, code_verifier: verifier, resource: `${home}/mcp` } });
    const { access_token } = await exchanged.json();
    const ping = () => page.request.post("/mcp", {
      data: { jsonrpc: "2.0", id: 1, method: "ping" }, headers: { Authorization: `Bearer ${access_token}` } });
    expect((await ping()).status()).toBe(200);

    await page.goto("/account/keys");
    await expect(page.getByRole("heading", { name: "Programs with access" })).toBeVisible();
    await looksRight(page, info, "programs");
    await page.getByRole("button", { name: "Revoke A desk" }).click();
    await expect(page.getByRole("status")).toContainText("no longer has access");
    expect((await ping()).status()).toBe(401);
    desk.close();
  });
});
