import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { saveOnce, toNullIfMissing } from '../../files.ts'
import { findPassword } from '../client/database-url.ts'
import type { Sql } from '../sql.ts'
import { runSingleUser, type StoppedCluster } from './postmaster.ts'

/** The role of the embedded server. */
export const ROLE = 'shiplock'

/** Beside the secret key. The account that runs PostgreSQL for root cannot read it. */
const FILE_NAME = 'postgres-password'
const PASSWORD_BYTES = 32

/** The file has the form of libpq's, so that psql can use it by `passfile`. */
export type DatabasePassword = { file: string; password: string }

/** Reads the password of the data directory, which is made on first use. */
export async function loadPassword(dataDir: string): Promise<DatabasePassword> {
  const file = join(dataDir, FILE_NAME)
  const newLine = () => `*:*:*:${ROLE}:${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`
  const text = (await toNullIfMissing(readFile(file, 'utf8'))) ?? (await saveOnce(file, newLine()))
  await giveToOwner(file)
  const password = findPassword(text, { host: 'localhost', port: 0, database: '', user: ROLE })
  if (password !== null) return { file, password }
  throw new Error(`${file} has no password; remove the file, so that the next start makes another`)
}

/** The user of a data directory whose commands root has run must be able to read the file. */
async function giveToOwner(file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const [{ uid, gid }, own] = await Promise.all([stat(dirname(file)), stat(file)])
  if (own.uid !== uid) await chown(file, uid, gid)
}

const RULES_FILE = 'pg_hba.conf'

/**
 * Whoever connects needs the password (PostgreSQL manual, 20.1). The rules name it by a hash, so
 * that a cluster with another password, or with the rules of an earlier version, is recognized.
 */
function formatRules(password: string): string {
  const hash = createHash('sha256').update(password).digest('hex')
  const rules = ['local all all scram-sha-256', 'local replication all scram-sha-256']
  return [`# Written by Shiplock. SHA-256 of the password: ${hash}`, ...rules, ''].join('\n')
}

type ClusterWithPassword = StoppedCluster & { password: string }

/**
 * Makes a stopped cluster ask for the password, unless it does so already. Returns false if it
 * cannot be opened, for example because another process has just done so.
 */
export async function requirePassword(options: ClusterWithPassword): Promise<boolean> {
  const { cluster, password } = options
  const rules = await toNullIfMissing(readFile(join(cluster, RULES_FILE), 'utf8'))
  return rules === formatRules(password) || (await updatePassword(cluster, options))
}

/** Sets the password of the role, and executes further statements before that. */
export async function updatePassword(
  directory: string,
  options: ClusterWithPassword,
  statements: readonly string[] = [],
): Promise<boolean> {
  const { account, password } = options
  const all = [...statements, `alter role ${ROLE} password '${password}'`]
  if (!(await runSingleUser(directory, options, all))) return false
  const partial = join(directory, `${RULES_FILE}.${process.pid}`)
  await writeFile(partial, formatRules(password), { flush: true })
  await chmod(partial, 0o600)
  if (account) await chown(partial, account.uid, account.gid)
  await rename(partial, join(directory, RULES_FILE))
  return true
}

/** Whether the server has asked for the password of this connection. Needs PostgreSQL 16. */
export async function hasGivenPassword(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ asked: boolean }]>`
    select system_user is not null as asked`
  return row.asked
}
