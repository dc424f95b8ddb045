// vendor_b's embeddings: a vector for each text, made of the text itself, as numbers or in base64.

import { asText, type Json, type JsonObject } from '../../ir/json.ts'
import { countTokens } from '../prompt.ts'
import { asNumber } from '../vendor.ts'
import { invalid } from './error.ts'

const DIMENSIONS = 1536

/** The texts to embed, a list of tokens for each that came as such. Throws `VendorError`. */
const textsOf = (input: Json | undefined): (string | number[])[] => {
  if (typeof input === 'string') return [input]
  const list = Array.isArray(input) ? input : []
  if (list.length > 0 && list.every(isToken)) return [list]
  const texts = list.filter((each): each is string | number[] => typeof each === 'string' || areTokens(each))
  if (texts.length === 0 || texts.length < list.length || texts.includes(''))
    throw invalid("'$.input' is invalid. Please check the API reference.", null)
  return texts
}

const isToken = (value: Json): value is number => typeof value === 'number'
const areTokens = (value: Json): value is number[] => Array.isArray(value) && value.length > 0 && value.every(isToken)

const tokensOf = (text: string | number[]): number => (typeof text === 'string' ? countTokens(text) : text.length)

/** Of length 1, and the same for the same text. */
const vectorOf = (text: string | number[], length: number): number[] => {
  const seed = Bun.hash.crc32(JSON.stringify(text))
  const raw = Array.from({ length }, (_, at) => Math.sin(seed * (at + 1)))
  const norm = Math.hypot(...raw)
  return raw.map((value) => Math.fround(value / norm))
}

const inBase64 = (vector: number[]): string => Buffer.from(new Float32Array(vector).buffer).toString('base64')

/** Throws `VendorError`. */
export const composeEmbeddings = (asked: JsonObject, withUsage: boolean): JsonObject => {
  const model = asText(asked.model)
  if (model === '') throw invalid('you must provide a model parameter', null)
  const texts = textsOf(asked.input)
  const tokens = texts.reduce((sum, text) => sum + tokensOf(text), 0)
  const data = texts.map((text, index) => {
    const vector = vectorOf(text, asNumber(asked.dimensions) ?? DIMENSIONS)
    return { object: 'embedding', index, embedding: asked.encoding_format === 'base64' ? inBase64(vector) : vector }
  })
  const usage = withUsage ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {}
  return { object: 'list', data, model, ...usage }
}
