// Figures that are added up.

import { expect, test } from 'bun:test'
import { addFigures, FIGURES, type Figures, NO_FIGURES } from '../../src/store/figures.ts'

test('every figure is added', () => {
  const each = (from: number): Figures => {
    const figures = { ...NO_FIGURES }
    for (const [at, name] of FIGURES.entries()) figures[name] = from + at
    return figures
  }
  const sums = addFigures(each(1), each(100))
  expect(FIGURES.map((name) => sums[name])).toEqual(FIGURES.map((_, at) => 101 + 2 * at))
})
