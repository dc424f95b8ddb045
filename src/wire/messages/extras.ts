// Members of a request's blocks and tools that only this wire has. They are kept as opaque members named by their path, so
// that other wires' encoders list them as dropped and this wire's own puts them back in place.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OpaqueMember } from '../../ir/request.ts'

export type Collected = {
  members: OpaqueMember[]
  /** Not essential unless `flags` set it. */
  add(name: string, value: Json, flags?: Partial<Omit<OpaqueMember, 'name' | 'value'>>): void
  /** Adds the members of a block that are not among the known ones. */
  rest(value: JsonObject, known: ReadonlySet<string>, path: string): void
}

export const collect = (): Collected => {
  const members: OpaqueMember[] = []
  const add: Collected['add'] = (name, value, flags) => {
    members.push({ name, value, essential: false, ...flags })
  }
  return {
    members,
    add,
    rest: (value, known, path) => {
      for (const name in value) {
        const member = value[name]
        if (known.has(name) || member === undefined || member === null) continue
        add(`${path}.${name}`, member, Array.isArray(member) && member.length === 0 ? { met: true } : {})
      }
    },
  }
}

export type Extras = {
  /** The block or tool at this path with the members kept for it, or the value that was kept in its place. */
  restore(path: string, block: JsonObject): JsonObject
  /** Members of the request itself, by their paths: `speed`, `output_config.task_budget`. */
  top: OpaqueMember[]
}

const IN_LISTS = /^(messages|system|tools)\.\d/

/** Empty for a request of another wire. */
export const extrasOf = (request: ChatRequest): Extras => {
  const verbatim = new Map<string, Json>()
  const members = new Map<string, [string, Json][]>()
  const top: OpaqueMember[] = []
  if (request.origin === 'messages') {
    for (const member of request.opaque) {
      if (!IN_LISTS.test(member.name)) {
        top.push(member)
        continue
      }
      const dot = member.name.lastIndexOf('.')
      const path = member.name.slice(0, dot)
      verbatim.set(member.name, member.value)
      const own = members.get(path) ?? []
      own.push([member.name.slice(dot + 1), member.value])
      members.set(path, own)
    }
  }
  return {
    top,
    restore: (path, block) => {
      if (verbatim.size === 0) return block
      const whole = verbatim.get(path)
      if (whole !== undefined) return whole as JsonObject
      const own = members.get(path)
      return own === undefined ? block : { ...block, ...Object.fromEntries(own) }
    },
  }
}
