// What the relay works with: the parts of a gateway that it needs to carry a request out.

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Turns } from '../lib/turns.ts'
import type { Provider } from '../provider/provider.ts'
import type { Continued } from './adapt/continued.ts'
import type { Detours } from './adapt/detours.ts'
import type { Pictures } from './adapt/pictures.ts'
import type { Recall } from './adapt/recall.ts'
import type { Affinity } from './affinity.ts'
import type { Background } from './background/watched.ts'
import type { Health } from './health.ts'
import type { Room } from './room.ts'

/** All that the relay needs of the gateway. */
export type Relay = {
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  ledger: Ledger
  health: Health
  affinity: Affinity
  continued: Continued
  detours: Detours
  pictures: Pictures
  recall: Recall
  background: Background
  room: Room
  /** For reading and translating, which take long for large requests and answers. */
  turns: Turns
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** The time of day, in ms since the epoch: it may be set forward and back. */
  clock: () => number
  /** For spans of time, in ms: it never is. */
  stopwatch: () => number
  fallbacks: Readonly<Record<string, string[]>>
  keepAliveMs: number
  earlyStartMs: number
  maxTries: number
}
