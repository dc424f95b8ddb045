// The whole matrix: every story and fault on every crossing. Each cell runs once and is cached.

import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import type { Bench } from './bench.ts'
import { type Cell, type Outcome, runCell } from './cell.ts'
import { FAULTS, faultPlays, runFault, runLeaving } from './faults.ts'
import { golden } from './golden.ts'
import { plays, STORIES } from './stories/index.ts'
import type { Story } from './story.ts'

export type Row = {
  group: string
  name: string
  /** Undefined where the story does not apply to this crossing. */
  run(bench: Bench, client: ChatWire, vendor: ChatWire, stream: boolean): Promise<Outcome> | undefined
  /** What the table says of this row besides its marks. */
  story?: Story
}

const storyRow = (story: Story): Row => ({
  group: story.group,
  name: story.name,
  story,
  run: (bench, client, vendor, stream) =>
    plays(story, client, vendor) ? withView(bench, { story, client, vendor, stream }) : undefined,
})

const withView = async (bench: Bench, { story, client, vendor, stream }: Cell): Promise<Outcome> => {
  const outcome = await runCell(bench, { story, client, vendor, stream })
  if (outcome.view === undefined) return outcome
  const due = golden(story, client, vendor, outcome.view)
  if (Bun.deepEquals(due, outcome.view, true)) return outcome
  const fault = `the client reads ${JSON.stringify(outcome.view)} instead of ${JSON.stringify(due)}`
  return { ...outcome, faults: [...outcome.faults, fault] }
}

export const ROWS: Row[] = [
  ...STORIES.map(storyRow),
  ...FAULTS.map(
    (fault): Row => ({
      group: 'Failures',
      name: fault.name,
      run: (bench, client, vendor, stream) =>
        faultPlays(fault, client, vendor, stream) ? runFault(bench, fault, { client, vendor, stream }) : undefined,
    }),
  ),
  {
    group: 'Failures',
    name: 'the client leaves',
    run: (bench, client, vendor, stream) => (stream ? runLeaving(bench, client, vendor) : undefined),
  },
]

export type Column = { client: ChatWire; vendor: ChatWire; stream: boolean }

export const COLUMNS: Column[] = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.flatMap((vendor) => [false, true].map((stream) => ({ client, vendor, stream }))),
)

export type Matrix = {
  outcome(row: Row, column: Column): Promise<Outcome | undefined>
}

export const matrix = (bench: Bench): Matrix => {
  const seen = new Map<string, Promise<Outcome> | undefined>()
  return {
    outcome: async (row, { client, vendor, stream }) => {
      const cell = `${row.group}/${row.name} ${client} ${vendor} ${stream}`
      if (!seen.has(cell)) seen.set(cell, row.run(bench, client, vendor, stream))
      return await seen.get(cell)
    },
  }
}
