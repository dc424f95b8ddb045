// Installs what is missing and runs the demo: the gateway before two loopback vendors.

import { requireBun } from './enough.ts'
import { bun, install } from './run.ts'

requireBun('run demo')

const installed = await install()
process.exit(installed === 0 ? await bun(['src/main.ts', 'demo', ...process.argv.slice(2)]) : installed)
