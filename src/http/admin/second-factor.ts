// One's own second factor: set up, recovered, removed.

import { GatewayError } from '../../errors.ts'
import { actorOf, type Part, sessionOf } from './call.ts'

export const secondFactor: Part<
  'second-factor.offer' | 'second-factor.enable' | 'second-factor.renew-codes' | 'second-factor.remove'
> = {
  'second-factor.offer': ({ gateway, caller }) => gateway.membership.factor.offer(sessionOf(caller).member),
  'second-factor.enable': async ({ gateway, caller }, { code }) => ({
    recovery_codes: await gateway.membership.factor.enable(sessionOf(caller), code),
  }),
  'second-factor.renew-codes': async ({ gateway, caller }) => ({
    recovery_codes: await gateway.membership.factor.renewCodes(sessionOf(caller).member),
  }),
  'second-factor.remove': async ({ gateway, caller }) => {
    const { id, role } = sessionOf(caller).member
    if (role === 'admin' && gateway.settings.values().second_factor_for_admins) {
      throw new GatewayError('permission_denied', 'This gateway asks for a second factor of every admin.')
    }
    await gateway.store.factors.remove(id, actorOf(caller))
    return { done: true }
  },
}
