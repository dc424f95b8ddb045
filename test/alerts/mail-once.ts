// Sends one e-mail, for tests that need trust in a certificate of their own, which a process has from its start.

import type { Email } from '../../src/alerts/alert.ts'
import { send } from '../../src/alerts/send.ts'
import { alertOf } from './support.ts'

const email = JSON.parse(process.argv[2] ?? '') as Email & { name: string; only: undefined }
const stop = new AbortController().signal
console.log(JSON.stringify(await send(email, alertOf('alr_mail'), { stop, nowMs: 0, patienceMs: 5_000 })))
