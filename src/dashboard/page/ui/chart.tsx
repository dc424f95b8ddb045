// A chart of stacked bars over time, drawn by uPlot, with what stands under the pointer in a box beside it.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { linesUpTo } from '../lib/axis.ts'
import { type Look, REST } from '../lib/looks.ts'
import { zone as ownZone } from '../lib/session.ts'
import { isDark } from '../lib/theme.ts'
import { colorOf, fillOf, isForced, Swatch } from './looks.tsx'

const STEP_S = { hour: 3_600, day: 86_400 }

const DAY_STEPS = [1, 2, 3, 7, 14, 28].map((days) => days * STEP_S.day)

type ChartSeries = { label: string; values: number[] }

type Props = {
  /** What the chart shows, for those who do not see it. */
  label: string
  /** Starts of the steps, ISO 8601. */
  at: string[]
  step: 'hour' | 'day'
  series: ChartSeries[]
  /** By whose clocks days are named; by default the gateway's. */
  zone?: string
  format: (value: number) => string
  /** The same on the axis, shorter. */
  scale: (value: number) => string
  height?: number
  /** By series; a colour after the other without it. */
  looks?: Look[]
}

const loaded = signal<typeof uPlot | undefined>(undefined)
/** Not there: another version of the gateway has been started since, whose files are others. */
const missing = signal(false)
const loadPlot = async (): Promise<void> => {
  try {
    loaded.value ??= (await import('uplot')).default
    missing.value = false
  } catch {
    missing.value = true
  }
}

export const Chart = ({
  label,
  at,
  step,
  series,
  format,
  scale,
  height = 240,
  looks: given,
  zone = ownZone.value,
}: Props) => {
  const looks = given ?? series.map((_, place) => ({ color: place % REST.color, pattern: 0 }))
  const host = useRef<HTMLDivElement>(null)
  const [under, setUnder] = useState<{ index: number; left: number; width: number }>()
  const Plot = loaded.value
  const dark = isDark.value
  useEffect(() => void loadPlot(), [])
  const inForced = isForced.value
  const drawn = JSON.stringify([at, series, looks])

  useEffect(() => {
    const element = host.current
    if (Plot === undefined || element === null) return
    const style = getComputedStyle(document.documentElement)
    const probe = document.createElement('span')
    element.append(probe)
    const color = (name: string): string => {
      probe.style.color = name
      return getComputedStyle(probe).color
    }
    const axis = { stroke: color('var(--muted)'), font: `12px ${style.fontFamily}`, ticks: { show: false } }
    const paper = color(inForced ? 'Canvas' : 'var(--surface)')
    const inks = looks.map((look) => color(inForced ? 'CanvasText' : colorOf(look)))
    const fills = looks.map((look, index) => fillOf(look, inks[index] ?? paper, paper))
    const grid = color('var(--line)')
    probe.remove()
    // Bars stand on zero, the largest sum first, so that each lower sum covers it from below.
    const sums = stacked(series.map(({ values }) => values)).reverse()
    const lines = linesUpTo(Math.max(0, ...(sums[0] ?? [])))
    const options: uPlot.Options = {
      width: element.clientWidth || 600,
      height,
      legend: { show: false },
      padding: [10, 22, 0, 0],
      ...(step === 'day' ? { tzDate: (time) => Plot.tzDate(new Date(time * 1_000), zone) } : {}),
      cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
      scales: {
        // The last bar stands on its step too: the axis ends where that step does.
        x: { range: (_, from, to) => [from, to + STEP_S[step]] },
        y: { range: () => [0, lines.at(-1) ?? 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 24,
          // As wide as the longest time of day, and a gap.
          space: step === 'hour' ? 76 : 58,
          // A day is marked once.
          ...(step === 'day' ? { incrs: DAY_STEPS } : {}),
          // The end of the last step is no step.
          values: (plot, splits) => {
            const last = plot.data[0].at(-1) ?? 0
            return splits.map((time) => (time > last ? '' : tickOf(time, step, zone)))
          },
        },
        {
          ...axis,
          grid: { stroke: grid, width: 1 },
          size: (_, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((value) => value.length)),
          values: (_, splits) => splits.map((value) => scale(value)),
          splits: () => lines,
        },
      ],
      series: [
        {},
        ...sums.map((_, index) => {
          const at = sums.length - 1 - index
          return {
            fill: () => fills[at] ?? grid,
            stroke: inks[at] ?? grid,
            width: inForced ? 1 : 0,
            points: { show: false },
            paths: Plot.paths.bars?.({ size: [0.72, 44], align: 1, radius: 0 }) as uPlot.Series.PathBuilder,
          }
        }),
      ],
      hooks: {
        setCursor: [
          ({ cursor }) =>
            setUnder(
              cursor.idx === null || cursor.idx === undefined || (cursor.left ?? -1) < 0
                ? undefined
                : { index: cursor.idx, left: cursor.left ?? 0, width: element.clientWidth },
            ),
        ],
      },
    }
    const plot = new Plot(options, [at.map((time) => Date.parse(time) / 1_000), ...sums], element)
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [Plot, drawn, dark, inForced, height, scale, step])

  const index = under?.index
  return (
    <div class="chart" role="img" aria-label={label}>
      {missing.value && <p class="muted">The chart could not be loaded. Load the page again.</p>}
      <div class="plot" ref={host} style={{ minHeight: `${height}px` }} />
      {under !== undefined && index !== undefined && at[index] !== undefined && (
        <div
          class="chart-tip"
          style={
            under.left > under.width / 2
              ? { right: `${under.width - under.left - 30}px` }
              : { left: `${under.left + 80}px` }
          }
        >
          <b>{stepLabel(at[index], step, zone)}</b>
          {series.map(({ label: name, values }, at) =>
            values[index] ? (
              <span class="legend-row" key={name}>
                <Swatch look={looks[at] ?? REST} />
                <span>{name}</span>
                <span class="num">{format(values[index])}</span>
              </span>
            ) : null,
          )}
          {series.every(({ values }) => !values[index]) && <span class="muted">nothing</span>}
        </div>
      )}
    </div>
  )
}

const stacked = (rows: number[][]): number[][] => {
  let below: number[] = []
  return rows.map((values) => {
    below = values.map((value, index) => value + (below[index] ?? 0))
    return below
  })
}

const hourOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const tickDate = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const tickHour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

const tickOf = (time: number, step: 'hour' | 'day', timeZone: string): string => {
  const at = new Date(time * 1_000)
  if (step === 'day') return at.toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone })
  return at.getHours() === 0 ? tickDate.format(at) : tickHour.format(at)
}

/** Days are those of the gateway's zone, hours are shown in the viewer's. */
const stepLabel = (iso: string, step: 'hour' | 'day', timeZone: string): string => {
  const at = new Date(iso)
  if (step === 'hour') return hourOf.format(at)
  return `${at.toLocaleDateString(undefined, { dateStyle: 'medium', timeZone })} ${timeZone}`
}

/** The shape of a few weeks in the height of a line. */
export const Spark = ({ values, label }: { values: number[]; label: string }) => {
  const most = Math.max(1, ...values)
  const width = 84 / Math.max(1, values.length)
  return (
    <svg class="spark" viewBox="0 0 84 22" role="img" aria-label={label}>
      {values.map((value, index) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * 21)
        return (
          <rect
            key={index}
            x={index * width + 0.5}
            y={22 - height}
            width={Math.max(1, width - 1.5)}
            height={height}
            rx="1"
            fill="currentColor"
            opacity={value === 0 ? 0.3 : 0.9}
          />
        )
      })}
    </svg>
  )
}
