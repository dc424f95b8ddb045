// Pictures and files in a message of the model's. No vendor takes them there, so they follow in a user's message.

import type { UserPart } from '../../ir/part.ts'
import type { Turn } from '../../ir/request.ts'

export const shownTurn = (parts: UserPart[]): Turn => ({
  role: 'user',
  parts: [{ type: 'text', text: 'Pictures and files of the assistant’s last message:' }, ...parts],
})
