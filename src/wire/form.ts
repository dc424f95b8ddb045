// What is known of a file in a client's form.

/** `opening`: its first bytes, each a character. */
export type FormFile = { bytes: number; opening: string }
