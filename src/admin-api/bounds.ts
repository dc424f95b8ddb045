// How far some members may go, for those who read them before they ask. Imports nothing.

export const LABEL_LENGTH = 200
/** How long an old secret may stay valid beside the new one. */
export const GRACE_DAYS = 30
/** How long a session of the dashboard may last. */
export const MOST_SESSION_DAYS = 365
