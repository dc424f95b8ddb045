// The lines of a chart's grid.

/** Between the lines of the grid: there is no half a token. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, zeros) => [1, 2, 5].map((step) => step * 10 ** zeros)).flat()

/** From zero to the first line above the data: whole numbers, three lines above zero or more where there are as many. */
export const linesUpTo = (most: number): number[] => {
  const step = WHOLE_STEPS.find((each) => most / each <= MOST_LINES) ?? most
  return Array.from({ length: Math.floor(most / step) + 2 }, (_, index) => index * step)
}
const MOST_LINES = 5
