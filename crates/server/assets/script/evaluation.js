// An evaluation in progress: how far it is, and its figures once it is over.

function evaluating() {
  const look = async () => {
    const shown = document.querySelector("[data-runs]");
    if (!shown?.querySelector("[data-running]")) return;
    try {
      const response = await ask(location.href, { headers: { Accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-runs]");
      if (fresh) {
        shown.replaceWith(fresh);
        localTimes(fresh);
      }
    } catch { /* the next look tries again */ }
    setTimeout(look, 1500);
  };
  setTimeout(look, 1500);
}
