// The clients that are known here, in the order in which they are listed.

import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { codex } from './codex.ts'
import { droid } from './droid.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'

export const CLIENTS: readonly Client[] = [claudeCode, codex, opencode, pi, qwenCode, aider, droid]
