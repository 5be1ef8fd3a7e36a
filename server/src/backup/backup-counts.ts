import type { Closing } from './manifest.ts'

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
