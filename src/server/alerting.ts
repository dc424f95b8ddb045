// Looks for what whoever runs the gateway is to be told of, beside the requests.

import type { Gateway } from '../gateway.ts'
import { alertRules } from './alert-rules.ts'

const EVERY_MS = 5_000

/** Looks until the returned function is called, once more then. Does not keep the process alive. */
export const startAlerting = (gateway: Gateway, everyMs = EVERY_MS): (() => Promise<void>) => {
  const { alerts, log, trouble } = gateway
  const rules = alertRules(gateway, trouble)
  const look = (): void => {
    if (!alerts.isOn()) return
    try {
      alerts.look(rules)
    } catch (cause) {
      log.warn('alerts could not be looked for', { cause: String(cause) })
    }
  }
  let isOver = false
  /** What workers have seen of providers is known as they told it last. */
  const round = async (): Promise<void> => {
    if (gateway.workers !== undefined && alerts.isOn()) await gateway.workers.ask()
    if (!isOver) look()
  }
  look()
  const rounds = setInterval(() => void round(), everyMs)
  rounds.unref()
  alerts.reconfigured()
  return async () => {
    isOver = true
    clearInterval(rounds)
    look()
    await alerts.stop()
  }
}
