// Looks for what whoever runs the gateway is to be told of, beside the requests.

import { alertsOf, type Gateway } from '../gateway.ts'
import { createInOrder } from '../lib/in-order.ts'
import { alertRules } from './alert-rules.ts'

const EVERY_MS = 5_000

/** Looks until the returned function is called, once more then. Does not keep the process alive. */
export const startAlerting = async (gateway: Gateway, everyMs = EVERY_MS): Promise<() => Promise<void>> => {
  const { log, trouble } = gateway
  const rules = alertRules(gateway, trouble)
  const inOrder = createInOrder()
  let wasKeeper = gateway.together === undefined
  /** Another node has told, and sent, what this one does not know of. */
  const takeTurns = async (): Promise<void> => {
    const isKeeper = gateway.isKeeper()
    if (isKeeper === wasKeeper) return
    const next = await alertsOf(gateway, !isKeeper)
    const before = gateway.alerts
    gateway.alerts = next
    wasKeeper = isKeeper
    await before.stop()
    if (isKeeper) next.reconfigured()
  }
  const look = (): Promise<void> =>
    inOrder(async () => {
      try {
        await takeTurns()
        if (wasKeeper && gateway.alerts.isOn()) await gateway.alerts.look(rules)
      } catch (cause) {
        log.warn('alerts could not be looked for', { cause: String(cause) })
      }
    })
  let isOver = false
  /** What workers have seen of providers is known as they told it last. */
  const round = async (): Promise<void> => {
    if (gateway.workers !== undefined && gateway.alerts.isOn()) await gateway.workers.ask()
    if (!isOver) await look()
  }
  await look()
  const rounds = setInterval(() => void round(), everyMs)
  rounds.unref()
  gateway.alerts.reconfigured()
  return async () => {
    isOver = true
    clearInterval(rounds)
    await look()
    await gateway.alerts.stop()
  }
}
