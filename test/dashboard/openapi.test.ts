// The API's document says what the server does.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import Ajv from 'ajv/dist/2020'
import { Glob } from 'bun'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import { openApi } from '../../src/http/openapi.ts'
import {
  Discovery,
  ErrorEnvelope,
  ModelEntry,
  ModelList,
  UsageHistory,
  UsageRecord,
} from '../../src/http/openapi-schemas.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

type Operation = {
  operationId: string
  security?: unknown[]
  requestBody?: { content: Record<string, { schema: object; example?: object }> }
  responses: Record<string, { headers?: Record<string, { schema?: { enum?: string[] } }> }>
}

type Described = {
  description?: string
  properties?: Record<string, Described>
  anyOf?: Described[]
  allOf?: Described[]
}

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({})
})
afterAll(() => gateway.stop())

const operations = (): [string, Operation][] =>
  Object.entries(openApi().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as Operation,
    ]),
  )

describe('the document', () => {
  test('lists exactly the endpoints that are served', () => {
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test('names each operation once', () => {
    const ids = operations().map(([, { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('gives every error its status of the table', () => {
    for (const [, { responses }] of operations()) {
      for (const [status, { headers }] of Object.entries(responses)) {
        for (const code of headers?.['x-gateway-error-code']?.schema?.enum ?? []) {
          expect(String(ERRORS[code as ErrorCode].status)).toBe(status)
        }
      }
    }
  })

  test('has examples that its own schemas take', () => {
    const ajv = new Ajv({ strict: false })
    for (const [name, { requestBody }] of operations()) {
      const body = requestBody?.content['application/json']
      if (body === undefined) continue
      expect([name, ajv.validate(body.schema, body.example)]).toEqual([name, true])
    }
  })

  test('says what every member of a request means', () => {
    const silent = (schema: Described): string[] =>
      [...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap(silent).concat(
        Object.entries(schema.properties ?? {})
          .filter(([, { description }]) => description === undefined)
          .map(([member]) => member),
      )
    for (const [name, { requestBody }] of operations()) {
      for (const { schema } of Object.values(requestBody?.content ?? {}))
        expect([name, silent(schema)]).toEqual([name, []])
    }
  })

  test('is served as JSON, with the guides beside it', async () => {
    const document = await fetch(`${gateway.url}/docs/openapi.json`)
    expect(document.headers.get('content-type')).toStartWith('application/json')
    expect(await document.json()).toEqual(JSON.parse(JSON.stringify(openApi())))
    const guides = (await (await fetch(`${gateway.url}/docs/guides.json`)).json()) as { name: string; html: string }[]
    expect(guides.map(({ name }) => name)).toContain('claude-code')
    for (const { html } of guides) expect(html).not.toMatch(/<script|\son\w+=/)
  })

  test('gives a model the window it has, in every guide that tells a client of it', async () => {
    const told: [string, string, number][] = []
    for await (const path of new Glob('docs/guides/*.md').scan(join(import.meta.dir, '../..'))) {
      for (const [block] of (await Bun.file(join(import.meta.dir, '../..', path)).text()).matchAll(/```.*?```/gs))
        for (const [, model = '', tokens] of block.matchAll(WINDOW)) told.push([path, model, Number(tokens)])
    }
    expect(told.length).toBeGreaterThan(3)
    const real = new Map(BUILTIN_MODELS.map(({ id, contextWindow }) => [id, contextWindow]))
    expect(told).toEqual(told.map(([path, model]) => [path, model, real.get(model) ?? 0]))
  })
})

/** A model, and what is said of its window next. */
const WINDOW = /(vendor[AB]-[\w.-]+)"(?:(?!vendor[AB]-).)*?context(?:window|_window|_tokens)?"?\s*[:=]\s*(\d+)/gis

const ANSWERS: [string, TSchema][] = [
  ['/v1', Discovery],
  ['/v1/models', ModelList],
  ['/v1/models/auto', ModelEntry],
  ['/v1/usage', UsageRecord],
  ['/v1/usage/history', UsageHistory],
  ['/v1/nothing', ErrorEnvelope],
]
test.each(ANSWERS)('%s answers in the shape that is documented', async (path, schema) => {
  const body: unknown = await (await gateway.get(path)).json()
  // The formats of strings are for readers; shapes are what is checked.
  const shape = JSON.parse(JSON.stringify(schema, (name, value) => (name === 'format' ? undefined : value))) as TSchema
  const ajv = new Ajv({ strict: false })
  expect([ajv.validate(shape, body), ajv.errorsText()]).toEqual([true, 'No errors'])
})
