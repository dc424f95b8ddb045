// The vendors by the wire they speak, and what their clients ask.

import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import type { Ask } from '../../../src/wire/codec.ts'
import type { Dice } from '../matrix/untidy/dice.ts'
import * as chat from './chat-completions.ts'
import * as messages from './messages.ts'
import * as responses from './responses.ts'
import type { Told } from './told.ts'

export type Vendor = {
  answer(dice: Dice): JsonObject
  frames(answer: JsonObject, dice: Dice, figures?: boolean): Frame[]
  told(body: JsonObject): Told
  stopOf(body: JsonObject): string
}
export const VENDORS: Record<ChatWire, Vendor> = { 'chat-completions': chat, responses, messages }

/** More of them where a long run is wished for. */
export const RUNS = Number(process.env.SLUICE_TEST_RUNS ?? 40)

/** The published types are compiled when they are first asked for. */
export const PATIENCE_MS = 1_000 * Math.max(60, RUNS)

export const askFor = (wire: ChatWire, stream: boolean): Ask => ({
  model: 'gateway-model',
  body: wire === 'chat-completions' && stream ? { stream, stream_options: { include_usage: true } } : { stream },
  inputEstimate: 11,
  now: 1_790_000_000,
})
