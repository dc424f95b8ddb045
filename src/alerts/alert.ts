// An alert: what whoever runs the gateway is told of, who is told, and what is kept of it.

import type { Actor } from '../keys/key.ts'

/** What alerts are of, in the order they are documented. */
export const ALERT_TYPES = [
  'quota',
  'budget',
  'expiring',
  'account-resting',
  'out-of-credit',
  'error-rate',
  'storage',
  'new-admin',
  'upgraded',
] as const
export type AlertType = (typeof ALERT_TYPES)[number]

/** One cause: a sentence for people, and its figures for programs. Ids, names and figures: no secret, no prompt. */
export type Item = { cause: string; text: string; [fact: string]: string | number | null }

/** What several things of one kind brought about at once is one alert. `more`: causes beyond those listed. */
export type Alert = {
  id: string
  type: AlertType | 'test'
  /** Milliseconds since the epoch. */
  at: number
  items: Item[]
  more: number
}

/** `only`: what it is told of; undefined: everything. */
export type Receiver = { name: string; only: readonly AlertType[] | undefined } & (Webhook | Email)

/** `secret`: what its signature is made with; undefined: it is sent without one. */
export type Webhook = { kind: 'webhook'; url: string; format: 'json' | 'slack' | 'discord'; secret: string | undefined }

export type Email = {
  kind: 'email'
  to: string[]
  from: string
  host: string
  port: number
  /** `starttls` and `tls` are insisted on. */
  security: 'starttls' | 'tls' | 'none'
  login: { user: string; password: string } | undefined
}

/** Who is told, and from where on. */
export type AlertRules = {
  receivers: Receiver[]
  /** Per cent of a quota, in ascending order. */
  marks: number[]
  /** How long before a key or a credential ends. */
  expiringMs: number
  /** How long an account has not answered. */
  restingMs: number
  /** The share of a model's requests that failed, of at least so many within a time. */
  errorRate: { above: number; requests: number; withinMs: number }
}

/** One alert on its way to one receiver. */
export type Delivery = { alert: Alert; receiver: string }

/** A cause that is told. `period`: the stretch of time it is told for, where it has some. */
export type Told = { cause: string; period: string; at: number }

/** `was`: when the same cause was told before, as far as its teller knows. */
export type Telling = Told & { was?: number | undefined }

/** The durable side. */
export type AlertStore = {
  told(): Promise<Told[]>
  waiting(): Promise<Delivery[]>
  /**
   * Keeps what is told and what is to be sent, both or neither. `forgotten`: causes that hold no more. False where another has
   * told of one meanwhile: then nothing is kept, nor to be sent.
   */
  tell(told: readonly Telling[], forgotten: readonly string[], deliveries: readonly Delivery[]): Promise<boolean>
  /** Takes a delivery off its way and writes into the audit what became of it. */
  close(delivery: Delivery, end: DeliveryEnd, actor: Actor): Promise<void>
  /** How many migrations the database has. */
  migrations(): Promise<number>
}

/** `send`: it was taken; `give-up`: not within the time it is kept; `drop`: too many were waiting. */
export type DeliveryEnd = 'send' | 'give-up' | 'drop'

/** `words`: why not, the end of a sentence about the receiver; `retryAfterMs`: how long it asked to be left alone. */
export type Sent = { ok: true } | { ok: false; words: string; retryAfterMs?: number | undefined }

/** How long a receiver may take. */
export const PATIENCE_MS = 10_000

/** A first line for people. */
export const titleOf = ({ type }: Alert): string => TITLES[type]

const TITLES: Readonly<Record<Alert['type'], string>> = {
  quota: 'A token quota is nearly or wholly used up',
  budget: 'A budget is nearly or wholly used up',
  expiring: 'A key or credential is about to expire',
  'account-resting': 'A provider account does not answer',
  'out-of-credit': 'A provider account is out of credit',
  'error-rate': 'Many requests of a model fail',
  storage: 'The database or its disk is in trouble',
  'new-admin': 'There is a new admin',
  upgraded: 'A new version has changed the database',
  test: 'This is a test',
}

/** The sentences, a line each. */
export const linesOf = ({ items, more }: Alert): string[] => [
  ...items.map(({ text }) => text),
  ...(more === 0 ? [] : [`And ${more} more.`]),
]

/** What the audit keeps of an alert. */
export const auditedAlert = (alert: Alert): object => ({
  ...{ alert: alert.id, type: alert.type, text: linesOf(alert).join(' ') },
})
