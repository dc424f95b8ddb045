// The one time a key's secret is shown, with what to paste where.

import { useLocation } from 'preact-iso/router'
import type { Key, KeyWithSecret, Model } from '../../../admin-api/schema.ts'
import { permits } from '../../../keys/key.ts'
import { type Answer, call } from '../lib/api.ts'
import { draft, edit } from '../lib/draft.ts'
import { API_ORIGIN } from '../lib/origin.ts'
import type { PlayWire } from '../lib/play.ts'
import { useResource } from '../lib/resource.ts'
import { IMAGE_SNIPPETS, TEXT_SNIPPETS } from '../lib/snippets.ts'
import { Dialog } from './dialog.tsx'
import { Button, Loaded, Notice, Secret } from './parts.tsx'
import { Snippets } from './snippets.tsx'

/** What the snippets ask for: a model the key may use, a text model where there is one. */
export const modelFor = (
  key: Key,
  { items, aliases }: Answer<'models.list'>,
): { model: string; kind: Model['kind'] } => {
  if (aliases.auto !== undefined && permits(key, aliases.auto)) return { model: 'auto', kind: 'text' }
  const usable = items.filter(({ id }) => permits(key, id))
  const served = usable.filter(({ available }) => available)
  const best = [...served, ...usable].find(({ kind }) => kind === 'text') ?? served[0] ?? usable[0]
  return best === undefined ? { model: 'auto', kind: 'text' } : { model: best.id, kind: best.kind }
}

export const SecretDialog = ({ made, onClose }: { made: KeyWithSecret; onClose: () => void }) => {
  const { route } = useLocation()
  const models = useResource((signal) => call('models.list', undefined, signal), [])
  const fitting = models.value && modelFor(made.key, models.value)
  const tryIt = (): void => {
    onClose()
    const { model = 'auto', kind = 'text' } = fitting ?? {}
    edit({ secret: made.secret, model, ...(kind === 'image' ? { wire: 'images' } : textWire()) })
    route('/dashboard/playground')
  }
  return (
    <Dialog title={`Key “${made.key.label}”`} onClose={onClose} wide firm>
      <Notice tone="good">Copy the secret now. It is shown this once and cannot be read again.</Notice>
      <Secret text={made.secret} label="Secret" />
      <Loaded of={models} lines={4}>
        {() =>
          fitting && (
            <Snippets
              of={fitting.kind === 'image' ? IMAGE_SNIPPETS : TEXT_SNIPPETS}
              origin={API_ORIGIN}
              secret={made.secret}
              model={fitting.model}
              {...(fitting.kind === 'image' ? {} : { keyId: made.key.id })}
            />
          )
        }
      </Loaded>
      <div class="row end">
        <Button onClick={tryIt}>Try it in the playground</Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}

/** The text wire that was chosen last. */
const textWire = (): { wire?: PlayWire } => (draft.value.wire === 'images' ? { wire: 'chat-completions' } : {})
