// How far some members may go, for those who read them before they ask. Imports nothing.

export const LABEL_LENGTH = 200
/** How long an old secret may stay valid beside the new one. */
export const GRACE_DAYS = 30
