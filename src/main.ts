// argv → cli → exit code, nothing else.

import { liftFetchLimit } from './cli/fetch-limit.ts'
import { reachLoopback } from './cli/loopback.ts'

const words = process.argv.slice(2)
liftFetchLimit(words)
reachLoopback(process.env)
// Loaded only now: a process about to be replaced has no use for it.
const [{ run }, { processIo }] = await Promise.all([import('./cli/run.ts'), import('./cli/process.ts')])
process.exit(await run(words, processIo()))
