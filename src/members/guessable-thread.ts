// The thread that knows common passwords.

import { answerAsks } from '../lib/thread.ts'
import { isGuessable } from './guessable.ts'

answerAsks(({ password, name }: { password: string; name: string }) => isGuessable(password, name))
