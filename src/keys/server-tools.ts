// Which tools that run at a vendor (web search, code execution, MCP and the like) may be used: of the gateway, a member, a key.

/** Names as `serverToolName` writes them. */
export type ServerTools = 'all' | 'none' | string[]

/** What all of them allow: each narrows the others. Absent is all. */
export const allOf = (settings: readonly (ServerTools | undefined)[]): ServerTools =>
  settings.reduce<ServerTools>((allowed, next = 'all') => {
    if (next === 'all' || allowed === 'none') return allowed
    if (allowed === 'all' || next === 'none') return next
    const both = allowed.filter((name) => next.includes(name))
    return both.length === 0 ? 'none' : both
  }, 'all')

export const permitsTool = (setting: ServerTools, name: string): boolean =>
  typeof setting === 'string' ? setting === 'all' : setting.includes(name)

/** Whether nothing is allowed by the one that the other does not allow. */
export const isWithin = (inner: ServerTools, outer: ServerTools): boolean => {
  if (outer === 'all' || inner === 'none') return true
  return inner !== 'all' && inner.every((name) => permitsTool(outer, name))
}
