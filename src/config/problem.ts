// What is wrong with a configuration, in sentences that say where, what was found and what is allowed.

/** `source` is the file, flag or environment variable; `path` the member inside the file, '' for the whole. */
export type Problem = { source: string; path: string; message: string }

export type Report = (path: string, message: string) => void

/** One line: `sluice.yaml: listen.port: found "x", allowed: …`. */
export const problemLine = ({ source, path, message }: Problem): string =>
  path === '' ? `${source}: ${message}` : `${source}: ${path}: ${message}`

/** `models` + `vendorB-5.5` → `models["vendorB-5.5"]`. */
export const memberPath = (parent: string, name: string | number): string => {
  if (typeof name === 'number') return `${parent}[${name}]`
  if (!/^[\w-]+$/.test(name)) return `${parent}[${JSON.stringify(name)}]`
  return parent === '' ? name : `${parent}.${name}`
}

/** How a value is named in a message: kinds for what may hold a secret, the value itself for the rest. */
export const describe = (value: unknown, secret = false): string => {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (secret) return typeof value === 'string' ? (value === '' ? 'an empty string' : 'a string') : `a ${typeof value}`
  // A number may be infinite, or none at all.
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

export const mismatch = (value: unknown, allowed: string, secret = false): string =>
  `found ${describe(value, secret)}, allowed: ${allowed}`
