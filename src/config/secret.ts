// Secrets by reference: `env:NAME`, `file:PATH`, or the text itself, which is accepted with a warning.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { codeOf } from '../lib/system-code.ts'

export type Env = Readonly<Record<string, string | undefined>>

/** A value, or the sentence that says why there is none. Neither holds what was written, which may be the secret. */
type Resolved = { value: string; literal: boolean } | { problem: string }

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `directory` is what a relative `file:` path starts from. A file's last line break is not part of the secret. */
export const resolveSecret = (reference: string, env: Env, directory: string): Resolved => {
  if (reference.startsWith('env:')) {
    const name = reference.slice('env:'.length)
    if (!NAME.test(name)) return { problem: 'env: must be followed by the name of an environment variable' }
    const value = env[name]
    return value === undefined || value === ''
      ? {
          problem: `found env:${name}, but the environment variable ${name} is not set; set it, or remove what uses it`,
        }
      : { value, literal: false }
  }
  if (reference.startsWith('file:')) {
    const path = resolve(directory, reference.slice('file:'.length))
    try {
      const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
      return value === ''
        ? { problem: `found file:${path}, but the file is empty; write the secret into it` }
        : { value, literal: false }
    } catch (error) {
      const todo = 'name the file that holds the secret, for this user to read'
      return { problem: `found file:${path}, but the file cannot be read (${reasonOf(error)}); ${todo}` }
    }
  }
  return { value: reference, literal: true }
}

/** What is wrong with a text that is to go into a header, as the end of a problem; undefined where nothing is. */
export const unsendable = (text: string): string | undefined => {
  if (/^ *$/.test(text)) return 'found nothing but blanks, allowed: printable ASCII characters'
  return /[^ -~]/.test(text)
    ? 'found a line break or another character that no header carries, allowed: printable ASCII characters'
    : undefined
}

/** The same of a credential: the gateway writes what stands around it. */
export const wrongCredential = (secret: string): string | undefined => {
  // Docker's --env-file takes quotes for a part of the value.
  if (/^(["']).*\1$/.test(secret))
    return 'found a text in quotes, which would be sent with it, allowed: the text without them'
  // As shells, Docker Compose and other gateways' files write it.
  if (/^(\$\w+|\$\{\w+\}|os\.environ\/\w+)$/.test(secret))
    return 'found the name of a variable, which would be sent in place of what it holds, allowed: env:NAME'
  if (/^Bearer /i.test(secret)) return 'found a text that begins with Bearer, allowed: what follows it'
  return unsendable(secret)
}

/** Why a file cannot be used, in words; the system's short name of a failure where we have none, such as EMFILE. */
export const reasonOf = (error: unknown): string => {
  const code = codeOf(error, 'unreadable')
  return REASONS[code] ?? code
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'no permission',
}
