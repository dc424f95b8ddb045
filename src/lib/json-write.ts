// Writes large JSON as UTF-8 in steps, a member or an element of a list at a time: no text of the whole is made.

import type { Steps } from './steps.ts'

/** About so many bytes are written in one step. */
const STEP_BYTES = 1024 * 1024

const utf8 = new TextEncoder()

/** An object in bytes, of which `textOf` gives what stands in it. `bytes`: about how many they will be. */
export function* writeJson<Value>(
  object: { readonly [name: string]: Value | Value[] | undefined },
  textOf: (value: Value) => string,
  bytes: number,
): Steps<Uint8Array<ArrayBuffer>> {
  let out = new Uint8Array(Math.ceil(bytes))
  let at = 0
  let stepEnd = STEP_BYTES
  const write = (text: string): void => {
    let rest = text
    for (;;) {
      const { read, written } = utf8.encodeInto(rest, out.subarray(at))
      at += written
      if (read === rest.length) return
      rest = rest.slice(read)
      const larger = new Uint8Array(Math.ceil(Math.max(at * 1.5, at + rest.length * 3)))
      larger.set(out.subarray(0, at))
      out = larger
    }
  }
  let glue = '{'
  for (const name of Object.keys(object)) {
    const member = object[name]
    if (member === undefined) continue
    write(`${glue}${JSON.stringify(name)}:`)
    glue = ','
    if (!Array.isArray(member)) write(textOf(member))
    else {
      let mark = '['
      for (const element of member) {
        write(mark)
        write(element === undefined ? 'null' : textOf(element))
        mark = ','
        if (at < stepEnd) continue
        stepEnd = at + STEP_BYTES
        yield
      }
      write(mark === '[' ? '[]' : ']')
    }
  }
  write(glue === '{' ? '{}' : '}')
  return out.subarray(0, at)
}
