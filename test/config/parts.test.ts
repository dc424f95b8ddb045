// The parts of the configuration: durations, sizes, and the JSON Schema for editors.

import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import fc from 'fast-check'
import { sampleFor } from '../../src/config/sample.ts'
import { configJsonSchema } from '../../src/config/schema.ts'
import { formatSize, parseDuration, parseSize } from '../../src/config/units.ts'

describe('durations and sizes', () => {
  test.each([
    ['500ms', 500],
    ['15s', 15_000],
    ['1.5m', 90_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['0', 0],
    [0, 0],
    ['15', undefined],
    [15, undefined],
    ['-1s', undefined],
    ['1 s', undefined],
    ['s', undefined],
    ['', undefined],
  ])('the duration %j is %p ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each([
    ['1B', 1],
    ['512KB', 524_288],
    ['25MB', 26_214_400],
    ['1.5GB', 1_610_612_736],
    [1000, 1000],
    ['1000', undefined],
    ['25mb', undefined],
    [1.5, undefined],
    [-1, undefined],
  ])('the size %j is %p bytes', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
  })

  test('a size is read back as it is written', () =>
    fc.assert(
      fc.property(fc.nat(), (count) => {
        expect(parseSize(formatSize(count))).toBe(count)
      }),
    ))

  test.each([
    [26_214_400, '25MB'],
    [1_073_741_824, '1GB'],
    [1_536, '1536B'],
    [0, '0B'],
  ])('%d bytes are written %s', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
  })
})

describe('the JSON Schema', () => {
  const validate = new Ajv().compile(configJsonSchema())

  test('is valid in strict mode and takes the sample', () => {
    expect(validate(Bun.YAML.parse(sampleFor([])))).toBe(true)
  })

  test('finds nothing in the sample that takes the place of what is set up elsewhere', () => {
    expect(Object.keys(Bun.YAML.parse(sampleFor([])) as object)).toEqual(['listen', 'data', 'rate'])
  })

  test('takes the sample with every comment in force', () => {
    // Options of what is in comments are in comments of their own.
    const inForce = (text: string) => text.replace(/^( *)# ( *(?:# )?(?:[\w.-]+:(?: |$)|- ))/gm, '$1$2')
    const active = inForce(inForce(sampleFor([])))
    expect(active).toContain('\nmodels:')
    expect(active).toContain('\n    preset: anthropic')
    expect([validate(Bun.YAML.parse(active)), validate.errors]).toEqual([true, null])
  })

  test.each([{ listen: { port: 'x' } }, { unknown: 1 }, { keep_alive: 15 }, { providers: { a: { wires: ['x'] } } }])(
    'refuses %j',
    (config) => {
      expect(validate(config)).toBe(false)
    },
  )
})
