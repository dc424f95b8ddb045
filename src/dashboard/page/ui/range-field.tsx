// The span of time a page looks at: back from now, or a month.

import { isMonth, lastMonths, RANGES, type Range } from '../lib/range.ts'
import { zone } from '../lib/session.ts'
import { Select } from './fields.tsx'
import { Segments } from './parts.tsx'

export const RangeField = ({ value, onChange }: { value: Range; onChange: (range: Range) => void }) => (
  <div class="row">
    <Segments label="Range" options={RANGES} value={value} onChange={onChange} />
    <Select
      bare
      label="Month"
      value={isMonth(value, zone.value) ? value : ''}
      options={[['', 'Month …'], ...lastMonths(isMonth(value, zone.value) ? value : undefined, zone.value)]}
      onChange={(month) => onChange(month === '' ? '30d' : month)}
    />
  </div>
)
