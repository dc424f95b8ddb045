// Which member a refusal means that names none, on wires that only pass.

import { describe, expect, test } from 'bun:test'
import { memberMeant } from '../../../src/wire/refusal/meant.ts'

const vectors = { model: 'm', input: ['a lock'], dimensions: 3, encoding_format: 'base64' }
const speech = { model: 'm', input: 'A lock, and a voice.', voice: 'zz', response_format: 'opus' }
const heard = { model: 'm', file: { bytes: 9, opening: '' }, language: 'xx', response_format: 'json' }
const drawn = { model: 'm', prompt: 'a lock', 'image[]': { bytes: 9, opening: '' }, size: '9x9', user: 'ann' }

describe('a refusal means', () => {
  test.each([
    [vectors, 'This model does not support matryoshka: other output dimensions lead to poor results.', 'dimensions'],
    [vectors, 'batch size 64 > maximum allowed batch size 32', 'input'],
    [vectors, 'Too many tokens overall, split into more batches.', 'input'],
    [vectors, 'the sequence is longer than this server was built for', 'input'],
    [vectors, 'only the encoding format float is known here', 'encoding_format'],
    [speech, "Voice 'zz' not found. Available voices: af_heart, af_sky", 'voice'],
    [speech, '"zz" is none of ours', 'voice'],
    [speech, 'Unsupported response-format', 'response_format'],
    [speech, 'this text has 5000 characters, and 4096 can be read at once', 'input'],
    [heard, "Invalid file format. Supported formats: ['flac', 'wav']", 'file'],
    [heard, 'audio duration 1600.0 seconds is longer than 1400 seconds', 'file'],
    [heard, "Language 'xx' cannot be heard", 'language'],
    [drawn, 'The pictures must be square.', 'image[]'],
    [drawn, 'The size `9x9` is not one of 256x256', 'size'],
    [drawn, 'Prompts may have 1000 letters', 'prompt'],
  ])('of %j: %s', (sent, text, member) => {
    expect(memberMeant(sent, text)).toBe(member)
  })

  test.each([
    [vectors, 'Internal error'],
    [vectors, 'the model is none of ours'],
    [vectors, 'see https://example.test/docs/dimensions.html'],
    [speech, 'Could not say: A lock, and a voice.'],
    [drawn, 'This account may not draw.'],
  ])('nothing of %j that would be told: %s', (sent, text) => {
    expect(memberMeant(sent, text)).toBeUndefined()
  })
})
