// How `drizzle-kit generate` turns the schema into migrations.

import { defineConfig } from 'drizzle-kit'

export default defineConfig({ dialect: 'sqlite', schema: './src/store/sqlite/schema.ts', out: './drizzle' })
