// Passkeys: made under Profile, used to sign in. Forms that need one are shown where the browser knows them.

const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
const toBase64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer ?? []))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** What the authenticator does with what the server asks for, and what the server is told of it. */
const withAuthenticator = {
  async make(asked) {
    const publicKey = {
      ...asked,
      challenge: fromBase64(asked.challenge),
      user: { ...asked.user, id: fromBase64(asked.user.id) },
      excludeCredentials: asked.excludeCredentials.map((known) => ({ ...known, id: fromBase64(known.id) })),
    };
    const { response } = await navigator.credentials.create({ publicKey });
    return { client_data: toBase64(response.clientDataJSON), attestation: toBase64(response.attestationObject) };
  },
  async use(asked) {
    const { rawId, response } = await navigator.credentials.get({ publicKey: { ...asked, challenge: fromBase64(asked.challenge) } });
    return {
      credential: toBase64(rawId),
      client_data: toBase64(response.clientDataJSON),
      authenticator_data: toBase64(response.authenticatorData),
      signature: toBase64(response.signature),
      user: toBase64(response.userHandle),
    };
  },
};

/** Has the server ask, the authenticator answer, and the server take that; gives where to go then. */
async function passkey(form) {
  const send = async (address, fields) => (await ask(address, { method: "POST", body: new URLSearchParams(fields) })).json();
  const address = form.getAttribute("action"), typed = [...new FormData(form)];
  const asked = await send(`${address}/begin`, typed);
  const answered = await withAuthenticator[form.dataset.passkey](asked);
  const further = typed.filter(([name]) => name === "name" || name === "next");
  return (await send(address, [...further, ...Object.entries(answered)])).go;
}

/** What browsers say in jargon, in plain words. */
const passkeyTrouble = (error) =>
  error.name === "InvalidStateError" ? words("script-passkey-known") : error instanceof DOMException ? words("script-passkey-none") : error.message;

function passkeys() {
  if (!window.PublicKeyCredential) return;
  for (const hint of all("[data-passkeys-missing]")) hint.hidden = true;
  for (const form of all("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (form.dataset.busy) return;
      form.dataset.busy = "yes";
      event.submitter?.setAttribute("aria-busy", "true");
      try {
        location.assign(await passkey(form));
      } catch (error) {
        delete form.dataset.busy;
        event.submitter?.removeAttribute("aria-busy");
        complain(form, passkeyTrouble(error), error.field);
      }
    });
  }
}
