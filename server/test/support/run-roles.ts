import { readFile } from 'node:fs/promises'
import { openSql } from '../../src/platform/db/sql.ts'
import type { TestDatabase } from './database.ts'
import { ROLES } from './needed-grants.ts'

const ROLES_WITH_LOGIN = ['shiplock_owner', 'shiplock_app', 'shiplock_worker', 'shiplock_read']

/** Runs roles.sql as a superuser, as psql does, and gives the roles the password of the superuser. */
export async function runRoles({ connection }: TestDatabase): Promise<void> {
  const sql = openSql(connection, { max: 1, applicationName: 'test' })
  try {
    await sql.unsafe(await readFile(ROLES, 'utf8')).simple()
    for (const role of ROLES_WITH_LOGIN) await sql.unsafe(`alter role ${role} password '${connection.password}'`)
  } finally {
    await sql.end()
  }
}

/** The address with another role. */
export function urlAs(role: string, { url, connection }: TestDatabase, password = connection.password): string {
  return url.replace(/\/\/[^@]*@/, `//${role}:${password}@`)
}
