// What a client's choice among its tools means for the answer.

import type { Json } from '../../ir/json.ts'
import { placeOf } from '../../ir/place.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChosenTool, CustomTool, FunctionTool, ToolChoice } from '../../ir/request.ts'

/** Whether the answer has to be a call of the client's tools: it then has no form, and needs no tool for one. */
export const forcesCall = (choice: ToolChoice | undefined): boolean =>
  choice?.type === 'tool' || choice?.type === 'required' || (choice?.type === 'allowed' && choice.required)

/**
 * The choice as it is sent: left to the model where the server takes none that is forced, which is listed with `drop`. Throws for
 * one of a tool that is not there, as `encode` does.
 */
export const sentChoice = (
  choice: ToolChoice,
  { quirks, drop }: { quirks: Quirks; drop: (path: string) => void },
  encode: (choice: ToolChoice) => Json,
): Json => {
  const asked = encode(choice)
  if (!forcesCall(choice) || quirks.noForcedTools !== true) return asked
  drop(placeOf(choice, 'tool_choice'))
  return encode(choice.type === 'allowed' ? { ...choice, required: false } : { type: 'auto' })
}

/** What a choice names: with the namespace, where it tells one. */
export const choiceKey = ({ name, kind, namespace }: ChosenTool): string =>
  JSON.stringify([kind, namespace ?? null, name])

/** The choices that name a tool. */
export const choicesOf = ({ name, type: kind, namespace }: FunctionTool | CustomTool): string[] => [
  choiceKey({ name, kind }),
  ...(namespace === undefined ? [] : [choiceKey({ name, kind, namespace })]),
]
