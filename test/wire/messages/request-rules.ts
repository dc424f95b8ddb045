// What the provider refuses in a request, beyond its published types.

import { isObject, type Json, type JsonObject } from '../../../src/ir/json.ts'

const objects = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const blocksOf = (content: Json | undefined): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content)
const ID = /^[a-zA-Z0-9_-]{1,128}$/

/** One line for each reason to refuse the request; empty for one that the provider takes. */
export const refusals = (body: JsonObject, client: 'own' | 'foreign'): string[] => {
  const wrong: string[] = []
  const messages = objects(body.messages)
  const contents = messages.map(({ role, content }) => ({ role, blocks: blocksOf(content) }))
  if (messages.length === 0) wrong.push('no messages')
  if (client === 'foreign' && contents[0]?.role !== 'user') wrong.push('the first message is not the user’s')
  const ids = new Set<Json | undefined>()
  contents.forEach(({ role, blocks }, at) => {
    if (blocks.length === 0) wrong.push(`message ${at} is empty`)
    for (const block of blocks) {
      if (block.type === 'text' && String(block.text).trim() === '') wrong.push(`message ${at} holds a blank text`)
      if (block.type === 'tool_use') {
        if (role !== 'assistant') wrong.push(`message ${at}: a call of the user`)
        if (!ID.test(String(block.id))) wrong.push(`id ${block.id}`)
        if (!ID.test(String(block.name))) wrong.push(`name ${block.name}`)
        if (ids.has(block.id)) wrong.push(`id ${block.id} twice`)
        if (!isObject(block.input)) wrong.push('input that is no object')
        ids.add(block.id)
      }
      if (block.type === 'tool_result' && block.is_error === true) {
        if (blocksOf(block.content).some(({ type }) => type !== 'text')) wrong.push('a failure with more than text')
        if (blocksOf(block.content).length === 0) wrong.push('a failure without content')
      }
    }
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const next = contents[at + 1]
    const results = (next?.blocks ?? []).filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id)
    if (calls.length > 0) {
      if (next?.role !== 'user') wrong.push(`message ${at}: calls are not answered by the user`)
      if (calls.toSorted().join() !== results.toSorted().join())
        wrong.push(`message ${at}: ${calls} answered by ${results}`)
    }
    const kinds = blocks.map(({ type }) => type)
    if (kinds.includes('tool_result')) {
      if (contents[at - 1]?.blocks.every(({ type }) => type !== 'tool_use') ?? true)
        wrong.push(`message ${at}: a result without a call`)
      if (kinds.lastIndexOf('tool_result') >= kinds.filter((kind) => kind === 'tool_result').length) {
        wrong.push(`message ${at}: results are not first`)
      }
    }
    if (role === 'assistant' && ['thinking', 'redacted_thinking'].includes(String(kinds.at(-1)))) {
      wrong.push(`message ${at} ends with a thought`)
    }
    if (client === 'foreign') {
      if (role === 'system' && contents[at - 1]?.role !== 'user') wrong.push(`message ${at}: system not after the user`)
      if (role === 'system' && at + 1 < contents.length && next?.role !== 'assistant') {
        wrong.push(`message ${at}: system not before the model`)
      }
      if (role !== 'system' && next?.role === role) wrong.push(`messages ${at} and ${at + 1} are both ${role}`)
    }
  })
  const last = contents.at(-1)
  const tail = last?.blocks.at(-1)
  if (last?.role === 'assistant' && tail?.type === 'text' && /\s$/.test(String(tail.text)))
    wrong.push('prefill ends in white space')
  for (const { text } of blocksOf(body.system)) if (String(text).trim() === '') wrong.push('blank system text')

  const tools = objects(body.tools)
  const names = tools.map(({ name }) => name)
  if (new Set(names).size < names.length) wrong.push(`tool names ${names}`)
  for (const tool of tools) {
    if (!ID.test(String(tool.name))) wrong.push(`tool name ${tool.name}`)
    const schema = isObject(tool.input_schema) ? tool.input_schema : {}
    if ('anyOf' in schema || 'oneOf' in schema || 'allOf' in schema) wrong.push('alternatives at the root of a tool')
  }
  const choice = isObject(body.tool_choice) ? body.tool_choice : undefined
  if (choice !== undefined && tools.length === 0) wrong.push('a choice without tools')
  if (choice?.type === 'tool' && !names.includes(choice.name)) wrong.push('the choice of no tool')
  const thinking = isObject(body.thinking) ? body.thinking : undefined
  if (thinking?.type === 'enabled') {
    const budget = Number(thinking.budget_tokens)
    if (budget < 1024 || budget >= Number(body.max_tokens)) wrong.push(`budget ${budget} of ${body.max_tokens}`)
  }
  if (client === 'foreign' && thinking !== undefined && thinking.type !== 'disabled') {
    if (choice?.type === 'any' || choice?.type === 'tool') wrong.push('thinking and a forced tool')
    if (body.temperature !== undefined && body.temperature !== 1) wrong.push('thinking and a temperature')
  }
  if (client === 'foreign' && body.temperature !== undefined && body.top_p !== undefined)
    wrong.push('temperature and top_p')
  for (const stop of Array.isArray(body.stop_sequences) ? body.stop_sequences : []) {
    if (String(stop).trim() === '') wrong.push('a blank stop sequence')
  }
  if (JSON.stringify(body).split('"cache_control":{').length > 5) wrong.push('more than four cache marks')
  return wrong
}
