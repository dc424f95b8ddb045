// Plays the matrix and writes docs/compatibility.md. Exit code 1 when a cell is red.

import { writeFileSync } from 'node:fs'
import { startBench } from '../test/wire/matrix/bench.ts'
import { matrix } from '../test/wire/matrix/run.ts'
import { compatibility } from '../test/wire/matrix/table.ts'
import { ROOT } from './run.ts'

const bench = await startBench()
const { text, red } = await compatibility(matrix(bench))
await bench.stop()
for (const line of red) console.error(line)
if (red.length === 0) writeFileSync(`${ROOT}/docs/compatibility.md`, text)
console.log(text)
process.exit(red.length === 0 ? 0 : 1)
