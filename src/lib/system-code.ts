// The system's or a library's short name for what went wrong, such as ECONNREFUSED.

/** `none`: for what has no such name. */
export const codeOf = (error: unknown, none = ''): string =>
  error instanceof Error && 'code' in error ? String(error.code) : none
