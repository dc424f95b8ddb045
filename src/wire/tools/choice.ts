// What a client's choice among its tools means for the answer.

import type { ToolChoice } from '../../ir/request.ts'

/** Whether the answer has to be a call of the client's tools: it then has no form, and needs no tool for one. */
export const forcesCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'tool' || choice?.type === 'required' || (choice?.type === 'allowed' && choice.required)
