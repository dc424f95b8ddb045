// All stories, in the table's order.

import { CHAT_WIRES, type ChatWire } from '../../../../src/ir/wire.ts'
import type { Story } from '../story.ts'
import { ACTING } from './acting.ts'
import { HOSTED } from './hosted.ts'
import { NEARLY } from './nearly.ts'
import { SPEAKING } from './speaking.ts'
import { THINKING } from './thinking.ts'

export const STORIES: Story[] = [...SPEAKING, ...ACTING, ...THINKING, ...HOSTED, ...NEARLY]

/** Whether this client can ask the story and this vendor tell it. */
export const plays = (story: Story, client: ChatWire, vendor: ChatWire): boolean =>
  (story.clients ?? CHAT_WIRES).includes(client) && (story.vendors ?? CHAT_WIRES).includes(vendor)
