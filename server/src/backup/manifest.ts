import type { StoredPartition, StoredSequence, StoredTable } from '../platform/db/stored-tables.ts'
import type { Mismatch } from '../platform/objects/verify-object.ts'

/** The format of the file. A reader refuses every other number. */
export const FORMAT = 1

/** Names of the contents of a backup, beside its first and last entry. */
export const SECRET_KEY_CONTENT = 'secret-key'
const TABLES = 'tables/'
const OBJECTS = 'objects/'
const OBJECT_FACTS = '/facts.json'

/** The first entry: what a restore must know before the first row. */
export type Opening = {
  format: number
  created_at: string
  /** The version of the program that wrote the file. */
  program_version: string
  /** PostgreSQL's own number. */
  server_version: number
  /** The names of the applied migrations, with the checksums of their files. */
  migrations: Record<string, string>
  tables: StoredTable[]
  partitions: StoredPartition[]
  has_secret_key: boolean
  /** Tells the installation's secret key from others, and reveals nothing of it. */
  secret_key_check: string
  /** About how many bytes of rows and objects follow. */
  estimated_bytes: number
}

/** The last entry: what the file must contain. */
export type Closing = {
  sequences: StoredSequence[]
  /** The number of rows by table. */
  rows: Record<string, number>
  objects: number
  object_bytes: number
  /** Objects that rows name and that the store did not have, or had with other bytes. */
  lost: number
  /** The first thousand of them. */
  lost_objects: { key: string; reason: Mismatch }[]
}

export type ObjectFacts = { size: number; sha256: string }

/** What a content of a backup is. */
type ContentKind =
  | { kind: 'table'; table: string }
  | { kind: 'facts'; key: string }
  | { kind: 'object'; key: string }
  | { kind: 'other' }

export function getTableContentName(table: string): string {
  return `${TABLES}${table}`
}

export function getObjectContentName(key: string): string {
  return `${OBJECTS}${key}`
}

/** The size and checksum of an object, in front of its bytes. */
export function getFactsContentName(key: string): string {
  return `${OBJECTS}${key}${OBJECT_FACTS}`
}

export function classifyContent(name: string): ContentKind {
  if (name.startsWith(TABLES)) return { kind: 'table', table: name.slice(TABLES.length) }
  if (!name.startsWith(OBJECTS)) return { kind: 'other' }
  const key = name.slice(OBJECTS.length)
  if (!key.endsWith(OBJECT_FACTS)) return { kind: 'object', key }
  return { kind: 'facts', key: key.slice(0, -OBJECT_FACTS.length) }
}

/** What a backup contains. */
export type BackupCounts = { tables: number; rows: number } & Pick<
  Closing,
  'objects' | 'object_bytes' | 'lost' | 'lost_objects'
>

export function countBackup({ rows, objects, object_bytes, lost, lost_objects }: Closing): BackupCounts {
  const counts = Object.values(rows)
  const sum = counts.reduce((total, count) => total + count, 0)
  return { tables: counts.length, rows: sum, objects, object_bytes, lost, lost_objects }
}

const MIB = 1024 * 1024
const formatCount = new Intl.NumberFormat('en').format

export function describeCounts({ tables, rows, objects, object_bytes }: BackupCounts): string {
  const files = `${formatCount(objects)} objects (${describeBytes(object_bytes)})`
  return `${formatCount(rows)} rows of ${tables} tables and ${files}`
}

export function describeBytes(bytes: number): string {
  return `${formatCount(toMib(bytes))} MiB`
}

export function toMib(bytes: number): number {
  return Math.ceil(bytes / MIB)
}

/** One line for each object that the backup could not contain. */
export function describeLost({ lost, lost_objects }: BackupCounts): string[] {
  const lines = lost_objects.map(({ key, reason }) => `warning: the object ${key} could not be backed up: ${reason}`)
  return lost > lines.length ? [...lines, `warning: ${formatCount(lost)} objects in all`] : lines
}
