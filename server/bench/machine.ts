import { cpus, totalmem } from 'node:os'
import type { Sql } from '../src/platform/db/sql.ts'

/** What the figures depend on besides the program. */
export type Machine = { cores: number; processor: string; memoryGiB: number; node: string; postgres: string }

export async function describeMachine(sql: Sql): Promise<Machine> {
  const [row] = await sql<[{ version: string }]>`select current_setting('server_version') as version`
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    postgres: row.version,
  }
}
