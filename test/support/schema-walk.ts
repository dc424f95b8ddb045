// Values of a published schema: one for every branch and every optional member, each of which differs from the least
// value in one place only; or one by throws of dice.

import { isObject, type Json, type JsonObject } from '../../src/ir/json.ts'

/** What chooses: the first value is the plainest. */
type Throws = { one<T>(first: T, ...others: T[]): T; odd(): boolean }

/** What a string may have to be, by the member it stands in. */
const TEXTS: { [member: string]: string | undefined } = {
  url: 'https://vendor.test/a.png',
  file_url: 'https://vendor.test/a.pdf',
  image_url: 'https://vendor.test/a.png',
  data: 'AAAA',
  file_data: 'data:application/pdf;base64,AAAA',
  arguments: '{}',
}

/** Of a value: the member it is of, the definitions it lies in, and how deep it may go on. */
type Place = { member: string; trail: string[]; depth: number }

/** `write`: what strings are, by the member they stand in. */
export const schemaWalk = (document: JsonObject, write?: (member: string) => string) => {
  const text = write ?? ((member: string): string => TEXTS[member] ?? 'text')
  const definitions = isObject(document.definitions) ? document.definitions : {}

  /** The schema itself: references followed, what is chosen by a member's value as plain alternatives. */
  const plain = (value: Json | undefined): { schema: JsonObject; name: string } => {
    let schema = isObject(value) ? value : {}
    let name = ''
    while (typeof schema.$ref === 'string') {
      name = schema.$ref.slice('#/definitions/'.length)
      const found = definitions[name]
      schema = isObject(found) ? found : {}
    }
    const all = Array.isArray(schema.allOf) ? schema.allOf.filter(isObject) : []
    const chosen = all.flatMap(({ then }) => (isObject(then) && (then.$ref ?? then.anyOf) !== undefined ? [then] : []))
    return { schema: chosen.length > 0 ? { anyOf: chosen } : schema, name }
  }
  const branches = ({ anyOf, oneOf }: JsonObject): Json[] | undefined =>
    Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined
  const properties = (schema: JsonObject): [string, Json | undefined][] =>
    isObject(schema.properties) ? Object.entries(schema.properties) : []
  const requires = (schema: JsonObject, member: string): boolean =>
    Array.isArray(schema.required) && schema.required.includes(member)
  const typesOf = ({ type }: JsonObject): Json[] => (Array.isArray(type) ? type : [type ?? 'object'])
  const number = (member: string): number => (member === 'max_tokens' ? 1000 : 1)

  const least = (value: Json | undefined, member: string, trail: string[]): Json => {
    const { schema, name } = plain(value)
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
    const open = branches(schema)?.find((branch) => {
      const inner = plain(branch)
      return inner.schema.type !== 'null' && !(inner.name !== '' && trail.includes(inner.name))
    })
    if (open !== undefined) return least(open, member, name === '' ? trail : [...trail, name])
    switch (typesOf(schema).find((type) => type !== 'null')) {
      case 'string':
        return text(member)
      case 'number':
      case 'integer':
        return number(member)
      case 'boolean':
        return true
      case 'array':
        return []
      case 'object': {
        const inner = name === '' ? trail : [...trail, name]
        const entries = properties(schema).filter(([key]) => requires(schema, key))
        return Object.fromEntries(entries.map(([key, property]) => [key, least(property, key, inner)]))
      }
      default:
        return null
    }
  }

  function* variants(value: Json | undefined, at: Place): Generator<Json> {
    const { schema, name } = plain(value)
    if (name !== '' && at.trail.includes(name)) return
    const inner = name === '' ? at : { ...at, trail: [...at.trail, name] }
    if (schema.const !== undefined) yield schema.const
    else if (Array.isArray(schema.enum)) yield* schema.enum
    else if (Object.keys(schema).length === 0) yield { any: text('any') }
    else if (branches(schema) !== undefined) for (const branch of branches(schema) ?? []) yield* variants(branch, inner)
    else for (const type of typesOf(schema)) yield* ofType(String(type), schema, inner)
  }

  function* ofType(type: string, schema: JsonObject, { member, trail, depth }: Place): Generator<Json> {
    if (type === 'null') yield null
    else if (type === 'boolean') yield* [true, false]
    else if (type === 'array') {
      yield []
      if (depth > 0) for (const item of variants(schema.items, { member, trail, depth: depth - 1 })) yield [item]
    } else if (type === 'object') {
      const base = () =>
        Object.fromEntries(
          properties(schema)
            .filter(([key]) => requires(schema, key))
            .map(([key, property]) => [key, least(property, key, trail)]),
        )
      yield base()
      if (depth === 0) return
      for (const [key, property] of properties(schema))
        for (const changed of variants(property, { member: key, trail, depth: depth - 1 }))
          yield { ...base(), [key]: changed }
      const { additionalProperties: others } = schema
      if (isObject(others))
        for (const other of variants(others, { member: 'any', trail, depth: depth - 1 }))
          yield { ...base(), any: other }
    } else yield type === 'string' ? text(member) : number(member)
  }

  const some = (value: Json | undefined, dice: Throws, { member, trail, depth }: Place): Json => {
    const { schema, name } = plain(value)
    const inner = name === '' ? trail : [...trail, name]
    if (schema.const !== undefined) return schema.const
    if (Array.isArray(schema.enum)) return dice.one<Json>(schema.enum[0] ?? null, ...schema.enum.slice(1))
    const open = branches(schema)?.filter((branch) => !trail.includes(plain(branch).name))
    if (open?.[0] !== undefined) return some(dice.one(open[0], ...open.slice(1)), dice, { member, trail: inner, depth })
    const [first = 'null', ...others] = typesOf(schema)
    switch (dice.one(first, ...others)) {
      case 'string':
        if (write !== undefined) return write(member)
        return TEXTS[member] ?? dice.one('text', '', 'two\nlines', '"q" \\ b', '👩🏽‍🚀 Grüße', 'data: x\n\n', '\u2028')
      case 'number':
      case 'integer':
        return dice.one(1, 0, 2, 40)
      case 'boolean':
        return dice.one(true, false)
      case 'array': {
        const length = depth > 0 ? dice.one(0, 1, 2) : 0
        return Array.from({ length }, () => some(schema.items, dice, { member, trail: inner, depth: depth - 1 }))
      }
      case 'object': {
        const entries = properties(schema).filter(([key]) => requires(schema, key) || (depth > 0 && dice.odd()))
        const within = (key: string): Place => ({ member: key, trail: inner, depth: depth - 1 })
        return Object.fromEntries(entries.map(([key, property]) => [key, some(property, dice, within(key))]))
      }
      default:
        return null
    }
  }

  /** The members of the document's root, with the alternatives it is made of. */
  const members = (value: Json | undefined = document): [string, Json | undefined][] => {
    const { schema } = plain(value)
    const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
    return [...inner.flatMap(members), ...properties(schema)]
  }

  return {
    members: () => new Map(members()),
    variants: (value: Json | undefined, member: string, depth = 5) => variants(value, { member, trail: [], depth }),
    /** A value of the definition. */
    some: (definition: string, dice: Throws): Json =>
      some(definitions[definition], dice, { member: definition, trail: [definition], depth: 4 }),
    /** The same of a member of the document's root. */
    someOf: (member: string, dice: Throws, depth: number): Json =>
      some(new Map(members()).get(member), dice, { member, trail: [], depth }),
  }
}
