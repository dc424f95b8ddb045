// What the states of an account are called, on the page and on the command line. Imports nothing.

export const HEALTH = { closed: 'healthy', 'half-open': 'on trial', open: 'resting' } as const
