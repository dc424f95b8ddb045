// Stores on one database of a real PostgreSQL, each as a node of its own has it.

import { UTC } from '../../../src/lib/calendar.ts'
import { createClient } from '../../../src/store/postgres/client.ts'
import { openPostgres, type PostgresStore } from '../../../src/store/postgres/open.ts'
import { type TestDatabase, testPostgres } from '../../support/postgres.ts'

/** With the tables there already: most tests are of what is done with them. */
const MIGRATED = {
  name: 'migrated',
  async fill(url: string) {
    const store = await openPostgres(url)
    await store.close()
  },
}

const used: string[] = []
const migrated: string[] = []
const dropped: TestDatabase[] = []
const stores: PostgresStore[] = []

/** As it was made. Far quicker than another database. */
const RESET = `
  DO $$ DECLARE each text; BEGIN
    FOR each IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'members')
      LOOP EXECUTE format('DELETE FROM %I', each); END LOOP;
    DELETE FROM members;
    FOR each IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public'
      LOOP EXECUTE format('ALTER SEQUENCE %I RESTART', each); END LOOP;
    INSERT INTO versions VALUES ('changes', 0);
  END $$`

/** Closes the stores of a test and clears its databases: each test file gives it to its own `afterEach`. */
export const dropAll = async (): Promise<void> => {
  for (const store of stores.splice(0)) await store.close()
  for (const database of dropped.splice(0)) await database.drop()
  for (const url of used.splice(0)) {
    const client = createClient(url)
    await client.query(RESET)
    await client.close()
    migrated.push(url)
  }
}

/** The URL of a database that is the test's own. `empty`: without tables. */
export const newDatabase = async (how: 'migrated' | 'empty' = 'migrated'): Promise<string> => {
  const server = await testPostgres()
  if (how === 'empty') {
    const database = await server.database()
    dropped.push(database)
    return database.url
  }
  const url = migrated.pop() ?? (await server.database(MIGRATED)).url
  used.push(url)
  return url
}

/** One whose tables a test changes. */
export const ownDatabase = async (): Promise<string> => {
  const database = await (await testPostgres()).database(MIGRATED)
  dropped.push(database)
  return database.url
}

/** Another node on a database. `clock`: in place of the database's. */
export const nodeOn = async (url: string, clock?: () => number, calendar = UTC): Promise<PostgresStore> => {
  const store = await openPostgres(url, { clock, calendar })
  stores.push(store)
  return store
}

export const twoNodes = async (): Promise<[PostgresStore, PostgresStore]> => {
  const url = await newDatabase()
  return [await nodeOn(url), await nodeOn(url)]
}
