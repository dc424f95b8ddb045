// The admin API's resources, by subject: the one source of their shapes. The page, the command line and scripts take the types.
// Names are snake_case, times ISO 8601 in UTC with milliseconds, durations ms, money whole micro-USD (and riel beside).

export * from './schema/accounts.ts'
export * from './schema/budgets.ts'
export * from './schema/exchanges.ts'
export * from './schema/gateway.ts'
export * from './schema/keys.ts'
export * from './schema/models.ts'
export * from './schema/people.ts'
export * from './schema/usage.ts'
