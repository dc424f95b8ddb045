// The system's or a library's short name for what went wrong, such as ECONNREFUSED.

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
