// Raises one alert after the other until it is killed, going on from what was told before, and ends once all are sent.

import { createAlerts, type Holding } from '../../src/alerts/alerts.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { webhook } from './support.ts'

const [path = '', url = '', most = '0'] = process.argv.slice(2)
const store = openStore(path)
const alerts = await createAlerts({
  store: store.alerts,
  rules: () => ({
    ...{ receivers: [webhook('one', url)], marks: [], expiringMs: 0, restingMs: 0 },
    errorRate: { above: 1, requests: 1, withinMs: 1 },
  }),
  clock: Date.now,
  warn: () => undefined,
  patienceMs: 200,
})
alerts.reconfigured()
let count = (await store.alerts.told()).length
const held = (): Holding[] =>
  Array.from({ length: count }, (_, at) => ({ subject: `${at}`, text: `Cause ${at}.`, facts: {} }))
const raising = setInterval(async () => {
  if (count < Number(most)) {
    count++
    await alerts.look([{ type: 'quota', look: held }])
  } else if (alerts.standingOf('one').waiting === 0) {
    clearInterval(raising)
    void alerts.stop().then(async () => {
      await store.close()
      console.log('all sent')
    })
  }
}, 3)
