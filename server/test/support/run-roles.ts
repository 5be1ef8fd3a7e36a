import { readFile } from 'node:fs/promises'
import { openSql } from '../../src/platform/db/sql.ts'
import type { TestDatabase } from './database.ts'
import { ROLES } from './needed-grants.ts'

/** Runs roles.sql as a superuser, as psql does. */
export async function runRoles({ connection }: TestDatabase): Promise<void> {
  const sql = openSql(connection, { max: 1, applicationName: 'test' })
  try {
    await sql.unsafe(await readFile(ROLES, 'utf8')).simple()
  } finally {
    await sql.end()
  }
}

/** The address with another role. */
export function urlAs(role: string, { url }: TestDatabase): string {
  return url.replace(/\/\/[^@]*@/, `//${role}@`)
}
