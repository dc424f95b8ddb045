// The recordings of this wire and the vendor's schemas, where the corpus stands beside the repository.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv, { type ValidateFunction } from 'ajv'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'

const CORPUS = join(import.meta.dir, '../../../../shared/corpus')

export const hasCorpus = existsSync(join(CORPUS, 'chat'))

export type Recording = {
  name: string
  status: number
  request?: JsonObject
  response?: JsonObject
  sse?: Uint8Array<ArrayBuffer>
}

const parse = (path: string): JsonObject | undefined => {
  if (!existsSync(path)) return undefined
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return isObject(value) ? value : undefined
}

export const recordings = (): Recording[] =>
  hasCorpus
    ? readdirSync(join(CORPUS, 'chat')).map((name) => {
        const folder = join(CORPUS, 'chat', name)
        const status = parse(join(folder, 'meta.json'))?.status
        const recording: Recording = { name, status: typeof status === 'number' ? status : 200 }
        const request = parse(join(folder, 'request.json'))
        if (request !== undefined) recording.request = request
        const response = parse(join(folder, 'response.json'))
        if (response !== undefined) recording.response = response
        const sse = join(folder, 'response.sse')
        if (existsSync(sse)) recording.sse = new Uint8Array(readFileSync(sse))
        return recording
      })
    : []

/** Recorded error answers: their status and body. */
export const recordedErrors = (vendor: string): { name: string; status: number; body: unknown }[] => {
  const folder = join(CORPUS, 'errors', vendor)
  if (!existsSync(folder)) return []
  return readdirSync(folder).map((name) => {
    const { status, body } = parse(join(folder, name)) ?? {}
    return { name, status: typeof status === 'number' ? status : 500, body }
  })
}

const compiled = new Map<string, ValidateFunction>()

/** What a value breaks of a vendor schema, as text; '' for a valid one, and where the corpus is absent. */
export const violations = (schema: string, value: unknown): string => {
  if (!hasCorpus) return ''
  let validate = compiled.get(schema)
  if (validate === undefined) {
    const body = parse(join(CORPUS, 'schemas', `${schema}.schema.json`))
    validate = new Ajv({ strict: false, logger: false }).compile(body ?? {})
    compiled.set(schema, validate)
  }
  if (validate(value)) return ''
  return (validate.errors ?? [])
    .map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`)
    .join('\n')
}

export const REQUEST_STRICT = 'OpenAIChatCompletionCreateParams.strict'
export const RESPONSE_CURRENT = 'OpenAIChatCompletion.current'
export const CHUNK_CURRENT = 'OpenAIChatCompletionChunk.current'
