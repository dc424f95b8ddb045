// What the processes of one gateway say to each other: a worker, which serves, and the owner of the books.

import type { Config } from '../../config.ts'
import type { Gateway } from '../../gateway.ts'
import type { Wire } from '../../ir/wire.ts'
import type { BackgroundAnswer } from '../../ledger/background.ts'
import type { Ask, Verdict } from '../../ledger/shared.ts'
import type { CountedRequest } from '../../observe/metrics.ts'
import type { Figures } from '../../observe/workers.ts'
import type { CountSummary } from '../../relay/exchange.ts'
import type { Refusal } from '../../store/refusals.ts'

/** Where a process is told its part. */
export const PART = 'SLUICE_PART'

/** What an owner ends with that had too many faults: another would have them too. */
export const EXIT_GIVEN_UP = 75

/** What every process of a gateway is told at its start, in its environment. */
export type Part = {
  role: 'owner' | 'worker'
  /** Where their sockets are. */
  dir: string
  /** The port that the workers share. */
  port: number
  /** How many workers there are. */
  count: number
  /** The owner serves as well. */
  serves: boolean
  /** Its own. */
  name: string
  /** In the log, from 1 on; 0 for an owner that serves nobody. */
  number: number
  /** The owner was started anew: workers may be serving. */
  again: boolean
}

/** `n` goes with the answer to it. */
export type FromWorker =
  | { what: 'hello'; name: string; number: number; running: string[] }
  | { what: 'ask'; n: number; group: Ask[] }
  | { what: 'keep'; n: number; answer: BackgroundAnswer }
  | { what: 'figures'; n: number; figures: Figures }
  | { what: 'refused'; wire: Wire; status: number; code: string }
  | { what: 'refusal'; refusal: Refusal }
  | { what: 'counted'; request: CountedRequest; how: CountSummary }
  | Placed
  | Continues

/** A configuration as data: what else it holds is made again from that. */
export type SentConfig = Omit<Config, 'calendar' | 'extend'>

/** An account has made an answer, or a conversation has gone to it, its own failing. */
type Placed = { what: 'placed'; name: string; account: string; forMs?: number }
/** How long the conversation is that goes on from an answer. */
type Continues = { what: 'continues'; keyId: string; answerId: string; tokens: number }

export type FromOwner =
  | { what: 'welcome'; config: SentConfig }
  | { what: 'verdicts'; n: number; verdicts: Verdict[] }
  /** The group was not carried out: the worker counts as gone. */
  | { what: 'fenced' }
  | { what: 'done'; n: number }
  | { what: 'config'; config: SentConfig }
  /** Something in the store has changed. */
  | { what: 'look' }
  | { what: 'how'; n: number }
  | { what: 'stop' }
  | Placed
  | Continues

/** What a process says to the one that started it. `alive`: when it is asked. */
export type FromPart = Ready | { what: 'alive' }
export type Ready = { what: 'ready'; url: string; lines: string[] }
/** And that one to it. `gone`: to the owner, of a worker that has ended. */
export type FromSupervisor = { what: 'stop' } | { what: 'reload' } | { what: 'gone'; name: string } | { what: 'alive?' }

/** The sockets in the processes' folder. */
export const BOOKS = 'books'
export const DOOR = 'door'

type Learnt = Pick<Gateway, 'affinity' | 'continued'>

/** What a process learns of conversations, which it tells the others too. */
export const sharing = ({ affinity, continued }: Learnt, tell: (learnt: Placed | Continues) => void): Learnt => ({
  affinity: {
    ...affinity,
    remember(name, account, forMs) {
      if (affinity.accountOf(name) !== account)
        tell({ what: 'placed', name, account, ...(forMs === undefined ? {} : { forMs }) })
      affinity.remember(name, account, forMs)
    },
  },
  continued: {
    ...continued,
    remember(keyId, answerId, tokens) {
      tell({ what: 'continues', keyId, answerId, tokens })
      continued.remember(keyId, answerId, tokens)
    },
  },
})

type Hears<Message extends { what: string }> = {
  [What in Message['what']]: (message: Extract<Message, { what: What }>) => void
}

/** Gives each message to who hears it. */
export const hearing =
  <Message extends { what: string }>(hears: Hears<Message>) =>
  (message: Message): void =>
    (hears[message.what as Message['what']] as (message: Message) => void)(message)
