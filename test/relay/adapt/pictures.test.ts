// What a picture is expected to cost: the most that its kind has cost, and never less than its model is set to.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createPictures, imagesAsked } from '../../../src/relay/adapt/pictures.ts'
import { modelOf } from '../../support/models.ts'

const SET = 500
const models = ['one', 'two'].map((id) => modelOf(id, 'image', { tokensPerImage: SET }))
const body = fc.record(
  {
    size: fc.constantFrom('1024x1024', '512x512'),
    quality: fc.constantFrom('low', 'high'),
    partial_images: fc.constantFrom(0, 2),
    n: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
)
const asked = fc.record({ model: fc.constantFrom(...models), body, output: fc.nat(9_000) })

test('is the most of what its model, size, quality and beginnings have cost', () =>
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 30 }), asked, (before, next) => {
      const pictures = createPictures()
      for (const { model, body, output } of before) pictures.remember(model, body, output)
      const alike = before.filter(
        ({ model, body }) =>
          model.id === next.model.id &&
          (['size', 'quality', 'partial_images'] as const).every((name) => body[name] === next.body[name]),
      )
      const each = alike.map(({ body, output }) => Math.ceil(output / imagesAsked(body)))
      expect(pictures.costOf(next.model, next.body)).toBe(Math.max(SET, ...each))
    }),
  ))

test('is forgotten first where it was seen longest ago, so that no client fills the memory by names of its own', () => {
  const pictures = createPictures()
  const [model = modelOf('one', 'image')] = models
  const kind = (at: number) => ({ size: `${at}x${at}` })
  for (let at = 0; at <= 1_000; at++) pictures.remember(model, kind(at), SET * 2)
  expect([0, 1, 1_000].map((at) => pictures.costOf(model, kind(at)))).toEqual([SET, SET * 2, SET * 2])
  const long = { size: 'x'.repeat(1_000_000) }
  pictures.remember(model, long, SET * 3)
  expect(pictures.costOf(model, { size: 'x'.repeat(20) })).toBe(SET * 3)
})
