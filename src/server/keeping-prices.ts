// Keeps the prices in force, so that what an exchange was charged by is known when they are others.

import type { Gateway } from '../gateway.ts'

/** From now on, and whenever the configuration changes. What cannot be written now is written with the next change. */
export const keepPrices = async (gateway: Gateway): Promise<void> => {
  const keep = async (): Promise<void> => {
    const prices = gateway.catalogue.all().map(({ id, price }) => ({ model: id, price: JSON.stringify(price) }))
    try {
      await gateway.store.prices.keep(prices)
    } catch (cause) {
      gateway.log.warn('prices were not kept: bills of exchanges may lack them once they change', {
        cause: cause instanceof Error ? cause.message : String(cause),
      })
    }
  }
  gateway.repriced = () => void keep()
  await keep()
}
