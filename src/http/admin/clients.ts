// How each client that is known is pointed at this gateway with a key: what `sluice connect` writes, for who has no sluice at hand.

import type * as S from '../../admin-api/schema.ts'
import type { Model } from '../../catalogue/model.ts'
import { choose } from '../../clients/choose.ts'
import type { Client, Listed } from '../../clients/client.ts'
import { CLIENTS } from '../../clients/index.ts'
import type { Gateway } from '../../gateway.ts'
import { permits } from '../../keys/key.ts'
import { reasons } from '../models.ts'
import { keyOf, type Part } from './call.ts'

/** Stands for the secret, which is not known here. */
const PLACE = 'YOUR_KEY'

export const clients: Part<'clients.list'> = {
  'clients.list': async (call, { key: id, origin }) => {
    // The editors of files are no small modules, and no start needs them.
    const { filesFor } = await import('../../clients/shown.ts')
    const { gateway } = call
    const key = keyOf(call, id)
    const models = gateway.catalogue
      .list()
      .filter((model) => model.kind === 'text' && permits(key, model.id))
      .map((model) => listed(gateway, model))
    const auto = models.find((model) => model.id === gateway.catalogue.resolve('auto')?.id)
    const shown = (client: Client): S.ConnectedClient[] => {
      const choice = choose(client, models, auto)
      if (choice === undefined) return []
      const setup = { origin, key: PLACE, main: choice.main, small: choice.small, models }
      const { name, title, notes = [] } = client
      return [{ name, title, files: filesFor(client, setup), start: client.start(setup), notes: [...notes] }]
    }
    return { items: CLIENTS.flatMap(shown) }
  },
}

const listed = (gateway: Gateway, model: Model): Listed => ({
  ...{ id: model.id, provider: model.provider, context: model.contextWindow, output: model.maxOutput },
  ...{ images: model.inputModalities.includes('image'), text: true, reasons: reasons(gateway, model) },
})
