// Faults and figures on demand: `[[name]]`, `[[name:argument]]`, with `*N` for the first N times only and
// `@vendor_a` or `@vendor_b` for one vendor only, anywhere in what the user says last.

import { FAILURES, type Failure } from './vendor.ts'

/** Every directive, with what its argument means. `cut`, `eof`, `stall`, `malformed`: the frame they happen at. */
export const DIRECTIVES = {
  error: 'answers with an error: a status or a name',
  'stream-error': 'breaks the stream off with an error event after 200: a name, default overloaded',
  cut: 'cuts the socket in the middle',
  eof: 'ends cleanly in the middle, without a terminal event',
  stall: 'goes silent in the middle',
  malformed: 'sends broken JSON',
  hang: 'never answers',
  slow: 'answers after so many milliseconds',
  pace: 'waits so many milliseconds before each frame',
  empty: 'answers 200 with an empty body',
  html: 'answers with an HTML error page',
  redirect: 'redirects to another address',
  refusal: 'refuses to answer, as a model does',
  redacted: 'reasons in a redacted block (vendor_a)',
  long: 'answers with so many words',
  usage: 'reports these figures: input,output',
  'no-usage': 'reports no usage',
} as const

export type DirectiveName = keyof typeof DIRECTIVES
export type Directive = { name: DirectiveName; argument: string; times?: number; vendor?: string }

const PATTERN = /\[\[([a-z-]+)(?::([^\]*@]*))?(?:\*(\d+))?(?:@(vendor_[ab]))?\]\]/g

const isDirective = (name: string): name is DirectiveName => Object.hasOwn(DIRECTIVES, name)

/** The directives of a text, in order; unknown names are no directives. */
export const readDirectives = (text: string): Directive[] =>
  Array.from(text.matchAll(PATTERN)).flatMap(([, name = '', argument = '', times, vendor]) =>
    isDirective(name)
      ? [
          {
            name,
            argument: argument.trim(),
            ...(times === undefined ? {} : { times: Number(times) }),
            ...(vendor === undefined ? {} : { vendor }),
          },
        ]
      : [],
  )

/** The text without its directives: what is left to answer. */
export const withoutDirectives = (text: string): string =>
  text.replace(PATTERN, (whole: string, name: string) => (isDirective(name) ? '' : whole)).trim()

/** A directive's number, or what it stands for without one. */
export const numberOf = (directive: Directive, otherwise: number): number => {
  const value = Number(directive.argument)
  return directive.argument !== '' && Number.isFinite(value) ? value : otherwise
}

const BY_STATUS = new Map<string, Failure>([
  ['400', 'invalid'],
  ['401', 'credential'],
  ['402', 'billing'],
  ['403', 'permission'],
  ['404', 'model'],
  ['409', 'conflict'],
  ['413', 'too_large'],
  ['429', 'rate_limit'],
  ['500', 'server'],
  ['502', 'bad_gateway'],
  ['503', 'overloaded'],
  ['504', 'timeout'],
  ['529', 'overloaded'],
])

/** The failure that a status or a name stands for, or what stands for it where neither is known. */
export const failureOf = (argument: string, otherwise: Failure): Failure =>
  BY_STATUS.get(argument) ?? FAILURES.find((name) => name === argument) ?? otherwise
