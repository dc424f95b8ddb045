// A tool's name together with the namespace that it stands in: as other wires send it, and as a key that is one tool's alone.

/** The name where there are no namespaces, as agents write it themselves. */
export const fullName = (name: string, namespace?: string): string =>
  namespace === undefined ? name : `${namespace}__${name}`

/** Different for every two tools, whatever characters their names hold. */
export const toolKey = (name: string, namespace?: string): string => JSON.stringify([namespace ?? null, name])
