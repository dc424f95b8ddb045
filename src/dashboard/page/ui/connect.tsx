// How a key's client is connected, once its secret is shown no more: whoever has it puts it in.

import type { Key } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { API_ORIGIN } from '../lib/origin.ts'
import { useResource } from '../lib/resource.ts'
import { IMAGE_SNIPPETS, TEXT_SNIPPETS } from '../lib/snippets.ts'
import { Card, Loaded } from './parts.tsx'
import { modelFor } from './secret-dialog.tsx'
import { Snippets } from './snippets.tsx'

const PLACE = 'YOUR_KEY'

export const Connect = ({ of }: { of: Key }) => {
  const models = useResource((signal) => call('models.list', undefined, signal), [])
  return (
    <Card title="Connect">
      <p class="muted small" style={{ marginBottom: '8px' }}>
        <code>{PLACE}</code> stands for the secret{of.last_four !== null && ` that ends in ${of.last_four}`}. It was
        shown once; whoever has lost it makes a new one by rotating.
      </p>
      <Loaded of={models} lines={4}>
        {(catalogue) => {
          const { model, kind } = modelFor(of, catalogue)
          const snippets = kind === 'image' ? IMAGE_SNIPPETS : TEXT_SNIPPETS
          return (
            <Snippets
              of={snippets}
              origin={API_ORIGIN}
              secret={PLACE}
              model={model}
              {...(kind === 'image' ? {} : { keyId: of.id })}
            />
          )
        }}
      </Loaded>
    </Card>
  )
}
