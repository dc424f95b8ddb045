// The settings of a request apart from its conversation, read from the body that reached the vendor, on any wire.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Ask } from './story.ts'

type Settings = {
  cap: Json | undefined
  stop: Json | undefined
  choice: string | undefined
  parallel: boolean | undefined
  tools: string[]
  temperature: Json | undefined
  user: Json | undefined
  /** Whether thinking was asked for. */
  thought: boolean
  schema: Json | undefined
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const settingsOf: Record<ChatWire, (body: JsonObject) => Settings> = {
  messages: (body) => {
    const choice = object(body.tool_choice)
    const config = object(body.output_config)
    const words: { [type: string]: string } = { any: 'required' }
    return {
      cap: body.max_tokens,
      stop: body.stop_sequences,
      choice: typeof choice.type === 'string' ? (words[choice.type] ?? String(choice.name ?? choice.type)) : undefined,
      parallel: typeof choice.disable_parallel_tool_use === 'boolean' ? !choice.disable_parallel_tool_use : undefined,
      tools: list(body.tools).map(({ name }) => String(name)),
      temperature: body.temperature,
      user: object(body.metadata).user_id,
      thought: object(body.thinking).type === 'adaptive',
      schema: object(config.format).schema,
    }
  },
  'chat-completions': (body) => {
    const choice = body.tool_choice
    const named = object(object(choice).function)
    return {
      cap: body.max_completion_tokens ?? body.max_tokens,
      stop: body.stop,
      choice: typeof choice === 'string' ? choice : isObject(choice) ? String(named.name) : undefined,
      parallel: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
      tools: list(body.tools).map((tool) => String(object(tool.function ?? tool.custom).name)),
      temperature: body.temperature,
      user: body.user,
      thought: body.reasoning_effort !== undefined,
      schema: object(object(body.response_format).json_schema).schema,
    }
  },
  responses: (body) => {
    const choice = body.tool_choice
    return {
      cap: body.max_output_tokens,
      stop: undefined,
      choice: typeof choice === 'string' ? choice : isObject(choice) ? String(choice.name) : undefined,
      parallel: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
      tools: list(body.tools).flatMap((tool) =>
        tool.type === 'namespace'
          ? list(tool.tools).map(({ name }) => `${tool.name}__${name}`)
          : [String(tool.name ?? tool.type)],
      ),
      temperature: body.temperature,
      user: body.user,
      thought: isObject(body.reasoning),
      schema: object(object(body.text).format).schema,
    }
  },
}

export type Waived = { form?: boolean; thought?: boolean }

/** Settings of the story that did not reach the vendor as given. `waived`: those that cannot. */
export const settingFaults = (ask: Ask, wire: ChatWire, body: JsonObject, waived: Waived): string[] => {
  const sent = settingsOf[wire](body)
  const expected: { [name: string]: unknown } = {
    cap: ask.maxOutput ?? 1_000,
    // The responses wire has no stop sequences: the gateway ends the answer itself.
    ...(ask.stop === undefined || wire === 'responses' ? {} : { stop: ask.stop }),
    ...(ask.choice === undefined ? {} : { choice: typeof ask.choice === 'object' ? ask.choice.tool : ask.choice }),
    ...(ask.parallel === undefined ? {} : { parallel: ask.parallel }),
    ...(ask.tools === undefined
      ? {}
      : { tools: ask.tools.map(({ name, namespace }) => (namespace === undefined ? name : `${namespace}__${name}`)) }),
    ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
    ...(ask.user === undefined ? {} : { user: ask.user }),
    ...(waived.thought ? {} : { thought: ask.effort !== undefined }),
    ...(ask.schema === undefined || waived.form ? {} : { schema: ask.schema }),
  }
  return Object.entries(expected).flatMap(([name, value]) => {
    const actual = sent[name as keyof Settings]
    return Bun.deepEquals(actual, value)
      ? []
      : [`asked ${name} ${JSON.stringify(value)}, sent ${JSON.stringify(actual)}`]
  })
}
