// Before anything is drawn: the look that this browser was told to use.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* then as the system is */ }
