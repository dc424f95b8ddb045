// Which texts are dates and times, and which are not.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseIsoTime } from '../../src/lib/iso-time.ts'

describe('an ISO time', () => {
  test.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T12:30', '2027-01-31T12:30:00.000Z'],
    ['2027-01-31T12:30:15.25', '2027-01-31T12:30:15.250Z'],
    ['2027-01-31T12:30:15Z', '2027-01-31T12:30:15.000Z'],
    ['2027-01-31T12:30:15+07:00', '2027-01-31T05:30:15.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseIsoTime(text)).toBe(Date.parse(iso))
  })

  test.each(['', 'soon', '2027', '31.1.2027', '2027-01-31 12:30', '2027-13-01', '2027-02-29', '2027-04-31T10:00:00Z'])(
    '%p is none',
    (text) => {
      expect(parseIsoTime(text)).toBeUndefined()
    },
  )

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        expect(parseIsoTime(date.toISOString())).toBe(date.getTime())
      }),
    )
  })
})
