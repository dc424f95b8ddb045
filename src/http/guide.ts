// A guide as the page shows it. `html` holds `{base_url}` where the page puts its own origin.

export type Guide = { name: string; title: string; html: string }
