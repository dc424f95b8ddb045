// What was set is taken back out of a file that has changed since: every other change in it stays.

import type { Edit, Format, Json, JsonObject, Path } from './client.ts'
import { applied, edited, ownIn, read } from './edit.ts'
import { isObject, valueAt } from './values.ts'

/** `now` without `edits`, which were made to `before`. Throws an Unreadable. */
export const reverted = (format: Format, now: string, before: string, edits: readonly Edit[]): string => {
  const [current, old] = [read(format, now), read(format, before)]
  const back = edits.flatMap((edit) => taken(edit, current, old))
  return edited(format, now, [...back, ...emptied(applied(current, back), old, edits)])
}

const taken = (edit: Edit, current: JsonObject, old: JsonObject): Edit[] => {
  const [now, then] = [valueAt(current, edit.at), valueAt(old, edit.at)]
  if ('own' in edit) {
    if (!Array.isArray(now)) return []
    const own = Array.isArray(then) ? ownIn(then, edit).flatMap((index) => then[index] ?? []) : []
    const others = now.length - ownIn(now, edit).length
    const gone = then === undefined && others === 0
    return [gone ? { at: edit.at, value: undefined } : { ...edit, value: own.filter(isObject) }]
  }
  // A group that was not there is ours whole; a single setting may be its owner's own by now.
  const ours = (then === undefined && isObject(edit.value)) || Bun.deepEquals(now, edit.value)
  return ours ? [{ at: edit.at, value: then }] : []
}

/** Groups that hold nothing any more, and were none before; the inner ones first. What stood there is there again. */
const emptied = (current: JsonObject, old: JsonObject, edits: readonly Edit[]): Edit[] => {
  const groups = new Map<string, Path>()
  for (const { at } of edits) {
    for (let length = at.length - 1; length > 0; length -= 1)
      groups.set(JSON.stringify(at.slice(0, length)), at.slice(0, length))
  }
  let left = current
  const gone: Edit[] = []
  for (const at of [...groups.values()].toSorted((a, b) => b.length - a.length)) {
    const group: Json | undefined = valueAt(left, at)
    const then = valueAt(old, at)
    if (!isObject(group) || Object.keys(group).length > 0 || isObject(then)) continue
    const edit = { at, value: then }
    gone.push(edit)
    left = applied(left, [edit])
  }
  return gone
}
