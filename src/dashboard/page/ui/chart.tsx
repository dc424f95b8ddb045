// A chart of stacked bars over time, drawn by uPlot, with what stands under the pointer in a box beside it.

import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { isDark } from '../lib/theme.ts'

const STEP_S = { hour: 3_600, day: 86_400 }
/** Between the lines of the grid: there is no half a token. */
const WHOLE_STEPS = Array.from({ length: 16 }, (_, zeros) => [1, 2, 5].map((step) => step * 10 ** zeros)).flat()

type ChartSeries = { label: string; values: number[] }

type Props = {
  /** What the chart shows, for those who do not see it. */
  label: string
  /** Starts of the steps, ISO 8601. */
  at: string[]
  step: 'hour' | 'day'
  series: ChartSeries[]
  format: (value: number) => string
  /** The same on the axis, shorter. */
  scale: (value: number) => string
  height?: number
  /** Colour numbers of the palette, from 0, by series; in order without it. */
  colors?: number[]
}

/** How many the palette has. */
export const COLORS = 8
export const colorOf = (index: number): string => `var(--c${(index % COLORS) + 1})`

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

export const Chart = ({ label, at, step, series, format, scale, height = 240, colors = [] }: Props) => {
  const host = useRef<HTMLDivElement>(null)
  const [under, setUnder] = useState<{ index: number; left: number; width: number }>()
  const Plot = loaded.value
  const dark = isDark.value
  useEffect(() => void loadPlot(), [])
  const drawn = JSON.stringify([at, series, colors])

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
    const fills = series.map((_, index) => color(colorOf(colors[index] ?? index)))
    const grid = color('var(--line)')
    probe.remove()
    // Bars stand on zero, the largest sum first, so that each lower sum covers it from below.
    const sums = stacked(series.map(({ values }) => values)).reverse()
    const options: uPlot.Options = {
      width: element.clientWidth || 600,
      height,
      legend: { show: false },
      padding: [10, 22, 0, 0],
      ...(step === 'day' ? { tzDate: (time) => Plot.tzDate(new Date(time * 1_000), 'Etc/UTC') } : {}),
      cursor: { y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } },
      scales: {
        // The last bar stands on its step too: the axis ends where that step does.
        x: { range: (_, from, to) => [from, to + STEP_S[step]] },
        y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 24,
          space: 58,
          // The end of the last step is no step.
          values: (plot, splits) => {
            const last = plot.data[0].at(-1) ?? 0
            return splits.map((time) => (time > last ? '' : tickOf(time, step)))
          },
        },
        {
          ...axis,
          grid: { stroke: grid, width: 1 },
          size: (_, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((value) => value.length)),
          values: (_, splits) => splits.map((value) => scale(value)),
          incrs: WHOLE_STEPS,
          space: 44,
        },
      ],
      series: [
        {},
        ...sums.map((_, index) => {
          const fill = fills[sums.length - 1 - index] ?? grid
          return {
            fill,
            stroke: fill,
            width: 0,
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
  }, [Plot, drawn, dark, height, scale, step])

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
          <b>{stepLabel(at[index], step)}</b>
          {series.map(({ label: name, values }, at) =>
            values[index] ? (
              <span class="legend-row" key={name}>
                <span class="swatch" style={{ background: colorOf(colors[at] ?? at) }} />
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

const dayOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const hourOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const tickDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })
const tickDate = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const tickHour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

const tickOf = (time: number, step: 'hour' | 'day'): string => {
  const at = new Date(time * 1_000)
  if (step === 'day') return tickDay.format(at)
  return at.getHours() === 0 ? tickDate.format(at) : tickHour.format(at)
}

/** Days are days of UTC, hours are shown in the viewer's zone. */
const stepLabel = (iso: string, step: 'hour' | 'day'): string =>
  step === 'day' ? `${dayOf.format(new Date(iso))} UTC` : hourOf.format(new Date(iso))

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
