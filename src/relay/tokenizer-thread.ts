// The tokenizer's thread: texts in, token counts out.

import { answerAsks, yieldToOthers } from '../lib/thread.ts'
import { tokensOf } from './tokens.ts'

yieldToOthers()
answerAsks(tokensOf)
