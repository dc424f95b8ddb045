// The clients that are known here, in the order in which they are listed.

import { aider } from './aider.ts'
import { claudeCode } from './claude-code.ts'
import type { Client } from './client.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { copilotCli } from './copilot-cli.ts'
import { crush } from './crush.ts'
import { droid } from './droid.ts'
import { goose } from './goose.ts'
import { hermes } from './hermes.ts'
import { llm } from './llm.ts'
import { mistralVibe } from './mistral-vibe.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwenCode } from './qwen-code.ts'
import { zed } from './zed.ts'

export const CLIENTS: readonly Client[] = [
  claudeCode,
  codex,
  opencode,
  pi,
  qwenCode,
  cline,
  continueDev,
  aider,
  copilotCli,
  droid,
  mistralVibe,
  hermes,
  llm,
  crush,
  goose,
  zed,
]
