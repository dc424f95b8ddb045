// The admin API's routes as data: what is where and who may call it. Imports nothing, so that the page can read it too.

export const ADMIN_BASE = '/admin/api'

/**
 * `anyone`: no session needed. `member`: whoever is signed in, over what is theirs. `admin`: admins and admin tokens.
 * `session`: only a person who is signed in, never a token; `admin-session`: the same for an admin.
 */
export type Access = 'anyone' | 'member' | 'admin' | 'session' | 'admin-session'

/** `proof`: it lets others in, or secrets out, so a member who asks must have proven who they are within the last minutes
 * (`session.prove`); where tokens may ask, they are their own proof.
 * `early`: open to an admin who has yet to set up the second factor that is demanded of admins, as little else is. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  access: Access
  proof?: boolean
  early?: boolean
}

/** Paths start at ADMIN_BASE. Everything that is not a GET changes something and must come from the same origin. */
export const ROUTES = {
  'session.get': { method: 'GET', path: '/session', access: 'anyone' },
  'session.sign-in': { method: 'POST', path: '/session', access: 'anyone' },
  'session.sign-out': { method: 'DELETE', path: '/session', access: 'session', early: true },
  'session.sign-out-everywhere': { method: 'DELETE', path: '/sessions', access: 'session', early: true },
  'sessions.list': { method: 'GET', path: '/sessions', access: 'session' },
  'sessions.end': { method: 'DELETE', path: '/sessions/:id', access: 'session' },
  'session.password': { method: 'POST', path: '/session/password', access: 'session' },
  'session.prove': { method: 'POST', path: '/session/proof', access: 'session', early: true },
  'second-factor.offer': { method: 'POST', path: '/second-factor', access: 'session', proof: true, early: true },
  'second-factor.enable': { method: 'PUT', path: '/second-factor', access: 'session', proof: true, early: true },
  'second-factor.renew-codes': { method: 'POST', path: '/second-factor/codes', access: 'session', proof: true },
  'second-factor.remove': { method: 'DELETE', path: '/second-factor', access: 'session', proof: true },
  setup: { method: 'POST', path: '/setup', access: 'anyone' },
  'invitation.open': { method: 'POST', path: '/invitation/open', access: 'anyone' },
  'invitation.accept': { method: 'POST', path: '/invitation/accept', access: 'anyone' },
  'members.list': { method: 'GET', path: '/members', access: 'admin' },
  'members.sessions': { method: 'GET', path: '/members/sessions', access: 'admin' },
  'members.end-session': { method: 'DELETE', path: '/members/sessions/:id', access: 'admin' },
  'members.invite': { method: 'POST', path: '/members', access: 'admin-session', proof: true },
  'members.update': { method: 'PATCH', path: '/members/:id', access: 'admin-session' },
  'members.renew-invitation': { method: 'POST', path: '/members/:id/invitation', access: 'admin-session', proof: true },
  'members.remove': { method: 'DELETE', path: '/members/:id', access: 'admin-session' },
  'teams.list': { method: 'GET', path: '/teams', access: 'admin' },
  'teams.create': { method: 'POST', path: '/teams', access: 'admin' },
  'teams.update': { method: 'PATCH', path: '/teams/:id', access: 'admin' },
  'teams.remove': { method: 'DELETE', path: '/teams/:id', access: 'admin' },
  'teams.add-member': { method: 'PUT', path: '/teams/:id/members/:member', access: 'admin' },
  'teams.remove-member': { method: 'DELETE', path: '/teams/:id/members/:member', access: 'admin' },
  'budgets.list': { method: 'GET', path: '/budgets', access: 'member' },
  'budgets.put': { method: 'PUT', path: '/budgets/:id', access: 'admin' },
  'budgets.reset': { method: 'POST', path: '/budgets/:id/reset', access: 'admin' },
  'keys.list': { method: 'GET', path: '/keys', access: 'member' },
  'keys.create': { method: 'POST', path: '/keys', access: 'member' },
  'keys.get': { method: 'GET', path: '/keys/:id', access: 'member' },
  'keys.update': { method: 'PATCH', path: '/keys/:id', access: 'member' },
  'keys.top-up': { method: 'POST', path: '/keys/:id/top-up', access: 'member' },
  'keys.reset': { method: 'POST', path: '/keys/:id/reset', access: 'admin' },
  'keys.rotate': { method: 'POST', path: '/keys/:id/rotate', access: 'member' },
  'keys.revoke': { method: 'POST', path: '/keys/:id/revoke', access: 'member' },
  'keys.usage': { method: 'GET', path: '/keys/:id/usage', access: 'member' },
  'usage.get': { method: 'GET', path: '/usage', access: 'member' },
  'usage.table': { method: 'GET', path: '/usage/table', access: 'member' },
  'exchanges.list': { method: 'GET', path: '/exchanges', access: 'member' },
  'exchanges.get': { method: 'GET', path: '/exchanges/:id', access: 'member' },
  'models.list': { method: 'GET', path: '/models', access: 'member' },
  'accounts.list': { method: 'GET', path: '/accounts', access: 'admin' },
  'accounts.test': { method: 'POST', path: '/accounts/:provider/:account/test', access: 'admin' },
  'accounts.create': { method: 'POST', path: '/accounts', access: 'admin', proof: true },
  'accounts.try': { method: 'POST', path: '/accounts/try', access: 'admin', proof: true },
  'accounts.update': { method: 'PATCH', path: '/accounts/:provider/:account', access: 'admin', proof: true },
  'accounts.remove': { method: 'DELETE', path: '/accounts/:provider/:account', access: 'admin', proof: true },
  'presets.list': { method: 'GET', path: '/presets', access: 'admin' },
  'entries.list': { method: 'GET', path: '/entries', access: 'admin' },
  'entries.put': { method: 'PUT', path: '/entries/:section/:name', access: 'admin', proof: true },
  'entries.remove': { method: 'DELETE', path: '/entries/:section/:name', access: 'admin', proof: true },
  'clients.list': { method: 'GET', path: '/clients', access: 'member' },
  'playground.key': { method: 'POST', path: '/playground/key', access: 'session' },
  reload: { method: 'POST', path: '/reload', access: 'admin' },
  'alerts.list': { method: 'GET', path: '/alerts', access: 'admin' },
  'alerts.test': { method: 'POST', path: '/alerts/test', access: 'admin' },
  'audit.list': { method: 'GET', path: '/audit', access: 'admin' },
  'settings.get': { method: 'GET', path: '/settings', access: 'admin' },
  'settings.put': { method: 'PUT', path: '/settings', access: 'admin' },
  'tokens.list': { method: 'GET', path: '/tokens', access: 'admin' },
  'tokens.create': { method: 'POST', path: '/tokens', access: 'admin-session', proof: true },
  'tokens.revoke': { method: 'DELETE', path: '/tokens/:id', access: 'admin' },
  live: { method: 'GET', path: '/live', access: 'member' },
  state: { method: 'GET', path: '/state', access: 'admin' },
} as const satisfies Record<string, Route>

export type RouteName = keyof typeof ROUTES
