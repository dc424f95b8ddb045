// What a model was asked besides the conversation, read from the request that reached it: settings, tools, forms.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { Ask } from './story.ts'

type Wishes = {
  cap: Json | undefined
  stop: Json | undefined
  choice: string | undefined
  parallel: boolean | undefined
  tools: string[]
  temperature: Json | undefined
  user: Json | undefined
  /** Whether thought was asked for. */
  thought: boolean
  schema: Json | undefined
}

const list = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const asked: Record<ChatWire, (body: JsonObject) => Wishes> = {
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

/** Wishes of the story that did not reach the model as they were made. `waived`: those that could not. */
export const unmet = (ask: Ask, wire: ChatWire, body: JsonObject, waived: Waived): string[] => {
  const wishes = asked[wire](body)
  const due: { [wish: string]: unknown } = {
    cap: ask.maxOutput ?? 1_000,
    // A wire that has none is not told: the gateway ends the answer.
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
  return Object.entries(due).flatMap(([name, value]) => {
    const got = wishes[name as keyof Wishes]
    return Bun.deepEquals(got, value) ? [] : [`asked ${name} ${JSON.stringify(value)}, sent ${JSON.stringify(got)}`]
  })
}
