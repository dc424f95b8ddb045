// What of a configuration cannot change while the server listens and has its store open.

import type { Config } from '../config.ts'

/** With its path in the configuration file. */
export const FIXED = {
  listen: 'listen',
  workers: 'workers',
  adminListen: 'admin.listen',
  dataDir: 'data',
  store: 'store',
  limitsStore: 'limits_store',
  timeZone: 'time_zone',
} as const

/** All of it, and what follows from it. */
export const fixedOf = (config: Config): Pick<Config, keyof typeof FIXED | 'calendar'> => {
  const { listen, workers, adminListen, dataDir, store, limitsStore, timeZone, calendar } = config
  return { listen, workers, adminListen, dataDir, store, limitsStore, timeZone, calendar }
}
