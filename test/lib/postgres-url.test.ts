// The URL of a PostgreSQL database of several hosts: each is asked at its own address, and by all that the URL says beside.

import { expect, test } from 'bun:test'
import { atEach, postgresUrls } from '../../src/lib/postgres-url.ts'

test.each([
  ['db:5433,other', ['db:5433', 'other']],
  ['db,other:5434', ['db', 'other:5434']],
  ['[::1]:5433,[::2],127.0.0.1:6000', ['[::1]:5433', '[::2]', '127.0.0.1:6000']],
])('%s', (hosts, each) => {
  const urls = postgresUrls(`postgres://me:p%2C,w@${hosts}/name?sslmode=disable`)
  const [first] = urls ?? []
  expect(urls && first && atEach(first, urls)).toEqual(
    each.map((host) => `postgres://me:p%2C,w@${host}/name?sslmode=disable`),
  )
})
