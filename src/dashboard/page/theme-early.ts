// Runs before the first paint: a chosen theme must not flash the other one.

try {
  const chosen = localStorage.getItem('sluice-theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Storage may be forbidden: the system's theme it is.
}
