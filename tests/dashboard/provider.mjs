// A real OpenID provider for the tests, on this machine: anybody may sign in, as the address <name>@example.org.
// node provider.mjs PORT REDIRECT

import { Provider } from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "quire", client_secret: "a secret, told nobody: +/=", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: !id.startsWith("unproven"), name: `${id} of elsewhere` }),
  }),
  features: { devInteractions: { enabled: true } },
  cookies: { keys: ["only for tests"] },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
