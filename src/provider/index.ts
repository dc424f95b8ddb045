// The providers' own door: their type, the built-in ones and where their wires are reached.

export { BUILTIN_PROVIDERS, DEFAULT_TIMEOUTS } from './builtin.ts'
export { endpoint } from './endpoint.ts'
export { type Account, type Auth, neutralWord, type Provider, type Timeouts } from './provider.ts'
