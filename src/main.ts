// argv → cli → exit code, nothing else.

import { processIo } from './cli/process.ts'
import { run } from './cli/run.ts'

run(process.argv.slice(2), processIo()).then((code) => process.exit(code))
