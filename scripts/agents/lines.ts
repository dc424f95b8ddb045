// A program that is spoken to by lines of JSON, and speaks so.

import type { JsonObject } from '../../src/ir/json.ts'

export type Lines = {
  send(line: JsonObject): void
  /** The next line that matches, of those that come from now on. Rejects where the program ends or takes a minute. */
  next(matches: (line: JsonObject) => boolean): Promise<JsonObject>
  end(): Promise<void>
}

const LIMIT_S = 300
const LONGEST_MS = 60_000

/** `request`s of the program's own are answered by nothing. */
export const openLines = (command: string[], env: Record<string, string>, cwd: string): Lines => {
  const child = Bun.spawn(['setsid', '--wait', 'timeout', '-k', '5', `${LIMIT_S}`, ...command], {
    ...{ env, cwd, stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' },
  })
  const waiting = new Set<(line: JsonObject | undefined) => void>()
  const read = async (): Promise<void> => {
    let text = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (text + chunk).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('{')) continue
        const said = JSON.parse(line) as JsonObject
        for (const look of [...waiting]) look(said)
      }
    }
    for (const look of [...waiting]) look(undefined)
  }
  void read()
  return {
    send: (line) => {
      child.stdin.write(`${JSON.stringify(line)}\n`)
      child.stdin.flush()
    },
    next: (matches) => {
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
      const timer = setTimeout(() => reject(new Error(`${command[0]} said nothing of ${matches}`)), LONGEST_MS)
      const look = (line: JsonObject | undefined): void => {
        if (line === undefined) reject(new Error(`${command[0]} has ended`))
        else if (matches(line)) resolve(line)
      }
      waiting.add(look)
      return promise.finally(() => {
        clearTimeout(timer)
        waiting.delete(look)
      })
    },
    end: async () => {
      child.stdin.end()
      await child.exited
    },
  }
}
