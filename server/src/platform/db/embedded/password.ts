import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { saveOnce, toNullIfMissing, writeForAccount } from '../../files.ts'
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
  const opened = await toNullIfMissing(openPlain(file))
  if (opened === null) await saveOnce(file, `*:*:*:${ROLE}:${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`)
  await using handle = opened ?? (await openPlain(file))
  const text = await readOwn(handle, file)
  const password = findPassword(text, { host: 'localhost', port: 0, database: '', user: ROLE })
  if (password === null)
    throw new Error(`${file} has no password; remove the file, so that the next start makes another`)
  await giveToOwner(handle, file)
  return { file, password }
}

/** Neither follows a link, nor waits for the writer of a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function openPlain(file: string): Promise<FileHandle> {
  return open(file, FLAGS).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ELOOP' ? createNotPlainError(file) : error
  })
}

/**
 * Root also reads the directories of others, who can give a file of somebody else this name. A file
 * of one name in them was made by them, or by an earlier command of root.
 */
async function readOwn(handle: FileHandle, file: string): Promise<string> {
  const [{ uid }, own] = await Promise.all([stat(dirname(file)), handle.stat()])
  const isOthers = process.getuid?.() === 0 && uid !== 0
  const isOwn = own.nlink === 1 && (own.uid === uid || own.uid === 0)
  if (!own.isFile() || (isOthers && !isOwn)) throw createNotPlainError(file)
  return handle.readFile('utf8')
}

function createNotPlainError(file: string): Error {
  return new Error(`${file} is a link or belongs to somebody else; remove it, so that the next start makes another`)
}

/** The user of a data directory whose commands root has run must be able to read the file. */
async function giveToOwner(handle: FileHandle, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const [{ uid, gid }, own] = await Promise.all([stat(dirname(file)), handle.stat()])
  if (own.uid !== uid) await handle.chown(uid, gid)
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
  await writeForAccount(join(directory, RULES_FILE), formatRules(password), account)
  return true
}

/** Whether the server has asked for the password of this connection. Needs PostgreSQL 16. */
export async function hasGivenPassword(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ asked: boolean }]>`
    select system_user is not null as asked`
  return row.asked
}
