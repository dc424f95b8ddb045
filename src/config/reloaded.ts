// What came of a configuration that was read again.

/**
 * Paths of the configuration: what took effect, what needs a restart, and what did not take effect because admins have
 * set it otherwise.
 */
export type Reloaded = { changed: string[]; refused: string[]; overridden: string[] }

/** `problems`: every one for which it was not taken. */
export type ReloadAnswer = (Reloaded & { warnings: string[] }) | { problems: string[] }
