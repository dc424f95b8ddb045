// The recorded vendor traffic beside the repository, where it is present.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Wire } from '../../src/ir/wire.ts'

const ROOT = join(import.meta.dir, '..', '..', '..', 'shared', 'corpus')

export const hasCorpus = existsSync(ROOT)
if (!hasCorpus) console.warn('recorded traffic is not here (../shared/corpus): the tests that replay it are skipped')

const FOLDERS: Record<Wire, string> = {
  'chat-completions': 'chat',
  responses: 'responses',
  messages: 'messages',
  images: 'images',
}

export type Recording = {
  name: string
  wire: Wire
  status: number
  stream: boolean
  features: string[]
  /** The client's body as recorded, to the byte; undefined for response-side fixtures. */
  request: string | undefined
  /** The vendor's answer: JSON text or the stream. */
  response: string
}

const read = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)

export const recordings = (wire: Wire): Recording[] => {
  if (!hasCorpus) return []
  const folder = join(ROOT, FOLDERS[wire])
  return readdirSync(folder).flatMap((name): Recording[] => {
    const meta = JSON.parse(read(join(folder, name, 'meta.json')) ?? '{}')
    const response = read(join(folder, name, 'response.sse')) ?? read(join(folder, name, 'response.json'))
    if (response === undefined) return []
    return [
      {
        name,
        wire,
        status: meta.status,
        stream: meta.stream === true,
        features: meta.features ?? [],
        request: read(join(folder, name, 'request.json')),
        response,
      },
    ]
  })
}

/** A schema of the corpus by its name, such as `AnthropicMessage.current`. */
export const schema = (name: string): JsonObject =>
  JSON.parse(read(join(ROOT, 'schemas', `${name}.schema.json`)) ?? '{}')
