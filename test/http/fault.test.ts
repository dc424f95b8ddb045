// What is wrong with a body, as a sentence: of one member, found however many others are wrong too.

import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { TypeCompiler, type ValueError, ValueErrorType } from '@sinclair/typebox/compiler'
import { fault } from '../../src/http/fault.ts'

const Part = Type.Object({ type: Type.Literal('text'), text: Type.String() })
const check = TypeCompiler.Compile(Type.Object({ content: Type.Union([Type.String(), Type.Array(Part)]) }))
const said = (body: object): string => fault(check.Errors(body).First(), body).message

test.each<[object, string]>([
  [{}, 'content: is required.'],
  [{ content: [{ type: 'text', text: 7 }] }, 'content.0.text: expected a string.'],
  [
    {
      content: [
        { type: 'text', text: 7 },
        { type: 'text', text: 7 },
      ],
    },
    'content.0.text: expected a string.',
  ],
])('%j: %s', (body, sentence) => {
  expect(said(body)).toBe(sentence)
})

test('a bounded number of errors is examined, however many there are', () => {
  const schema = Type.String()
  const one = (path: string): ValueError => ({
    type: ValueErrorType.String,
    schema,
    path,
    value: 1,
    message: '',
    errors: [],
  })
  const endless = function* (): Generator<ValueError> {
    for (let at = 0; ; at++) yield one(`/a/${at}`)
  }
  const branch = endless() as unknown as ValueError['errors'][number]
  expect(fault({ ...one('/a'), errors: [branch] }, { a: [] }).message).toBe('a.0: expected a string.')
})
