
// Trying the API.

function playing() {
  const form = document.querySelector("[data-trial]");
  if (!form) return;
  const answer = document.querySelector("[data-answer]");
  const { trial: method, base } = form.dataset;
  const { key, path, body } = form.elements;
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const write = () => {
    const sent = body ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body.value)}` : "";
    document.getElementById("trial-curl").textContent =
      `curl -X ${method} -H "Authorization: Bearer $QUIRE_API_KEY" \\\n  ${quoted(location.origin + base + path.value)}${sent}`;
  };
  write();
  form.addEventListener("input", write);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const send = form.querySelector("button");
    const show = (status, text) => {
      answer.querySelector("[data-status]").textContent = status;
      answer.querySelector("[data-text]").textContent = text;
      answer.hidden = false;
    };
    send.disabled = true;
    const began = performance.now();
    try {
      const headers = { Authorization: `Bearer ${key.value.trim()}`, ...(body && { "Content-Type": "application/json" }) };
      // The key alone speaks for whoever tries it, not the cookie of the dashboard.
      const response = await fetch(base + path.value, { method, headers, body: body?.value, credentials: "omit" });
      const text = await response.text();
      const took = Math.round(performance.now() - began);
      show(words("script-took", { status: `${response.status} ${response.statusText}`.trim(), count: String(took) }), laidOut(text));
    } catch {
      show(AWAY, "");
    }
    send.disabled = false;
  });
}

/** JSON with a line for each value; anything else as it is. */
function laidOut(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
