// How the series of a chart are told apart: each by a colour of its own, whatever its rank, and by a pattern where colours run
// out or the reader's system gives all of them one.

import { signal } from '@preact/signals'
import type { Look } from '../lib/looks.ts'

/** Whether the system draws everything in its own few colours. */
export const isForced = signal(false)
const forced = globalThis.matchMedia?.('(forced-colors: active)')
if (forced !== undefined) {
  isForced.value = forced.matches
  forced.addEventListener('change', ({ matches }) => {
    isForced.value = matches
  })
}

const TILE = 8

/** What a series is filled with, for a canvas. `ink`: its colour; `paper`: what shows through. */
export const fillOf = (look: Look, ink: string, paper: string): string | CanvasPattern => {
  const pattern = isForced.value ? look.color : look.pattern
  if (pattern === 0) return ink
  const ratio = devicePixelRatio || 1
  const tile = document.createElement('canvas')
  tile.width = TILE * ratio
  tile.height = TILE * ratio
  const draw = tile.getContext('2d')
  if (draw === null) return ink
  draw.scale(ratio, ratio)
  draw.fillStyle = paper
  draw.fillRect(0, 0, TILE, TILE)
  draw.fillStyle = ink
  draw.strokeStyle = ink
  draw.lineWidth = 2.5
  STROKES[pattern % STROKES.length]?.(draw)
  return draw.createPattern(tile, 'repeat') ?? ink
}

type Stroke = (draw: CanvasRenderingContext2D) => void

const lines =
  (...ends: [number, number, number, number][]): Stroke =>
  (draw) => {
    draw.beginPath()
    for (const [x, y, toX, toY] of ends) {
      draw.moveTo(x, y)
      draw.lineTo(toX, toY)
    }
    draw.stroke()
  }
const dots =
  (radius: number): Stroke =>
  (draw) => {
    draw.beginPath()
    draw.arc(TILE / 2, TILE / 2, radius, 0, 2 * Math.PI)
    draw.fill()
  }

/** As in the style sheet, where a swatch has them. */
const STROKES: readonly Stroke[] = [
  (draw) => draw.fillRect(0, 0, TILE, TILE),
  lines([-2, 2, 2, -2], [-2, 10, 10, -2], [6, 10, 10, 6]),
  lines([-2, 6, 2, 10], [-2, -2, 10, 10], [6, -2, 10, 2]),
  lines([0, 4, 8, 4]),
  lines([4, 0, 4, 8]),
  dots(2.4),
  lines([0, 4, 8, 4], [4, 0, 4, 8]),
  dots(1.2),
]

export const colorOf = ({ color }: Look): string => `var(--c${color + 1})`

export const Swatch = ({ look }: { look: Look }) => (
  <span class={`swatch pattern-${look.pattern} forced-${look.color}`} style={{ '--ink': colorOf(look) }} />
)
