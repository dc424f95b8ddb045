// What a scripted vendor says to an agent, and what is wrong with what it was sent.

import { isObject, type JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { listed, type Prompt } from '../../test/support/prompt.ts'
import { type Script, sse } from '../../test/support/provider/scripted.ts'
import { requestFaults } from '../../test/wire/matrix/rules.ts'
import type { Answer } from '../../test/wire/matrix/story.ts'
import { VENDORS } from '../../test/wire/matrix/vendor/index.ts'

/** The vendor's answer as it was asked for. `id`: agents tell answers apart by theirs. */
export const answered = (wire: ChatWire, { stream }: JsonObject, answer: Answer, id: number): Script => {
  const own = (text: string): string => text.replaceAll(/"((?:msg|resp|chatcmpl)[-_][^"]*)"/g, `"$1_${id}"`)
  return stream === true ? sse(own(VENDORS[wire].stream(answer)), 997) : { steps: [own(VENDORS[wire].json(answer))] }
}

/** What breaks the vendor's published types and pairing. Thoughts of open models are in no published type. */
export const faultsIn = (wire: ChatWire, sent: JsonObject): string[] =>
  requestFaults(
    wire,
    JSON.parse(JSON.stringify(sent), (name, value) =>
      name === 'reasoning_content' || name === 'reasoning_details' ? undefined : value,
    ),
  )

/** Where a prompt stops being the other's beginning. `passes`: its settings are the client's own. */
export const differs = (before: Prompt, now: Prompt, passes: boolean): string | undefined => {
  const apart = (one: string, other: string): string => {
    const at = [...one].findIndex((letter, index) => letter !== other[index])
    return `…${one.slice(Math.max(0, at - 80), at + 120)}\n      …${other.slice(Math.max(0, at - 80), at + 120)}`
  }
  if (!passes && now.settings !== before.settings) return `settings: ${apart(before.settings, now.settings)}`
  const at = before.items.findIndex((item, index) => item !== now.items[index])
  return at === -1
    ? undefined
    : `item ${at} of ${before.items.length}: ${apart(before.items[at] ?? '', now.items[at] ?? '')}`
}

export const namesIn = ({ tools }: JsonObject): string[] =>
  listed(tools).flatMap((tool) => {
    if (!isObject(tool)) return []
    const { name } = isObject(tool.function) ? tool.function : tool
    return [String(name)]
  })
