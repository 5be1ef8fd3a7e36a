import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Tx } from './sql.ts'

export type CopyValue = string | number | boolean | null | Buffer | readonly string[]

/** An open COPY: the fastest way in for many rows. While it is open, its transaction can do nothing else. */
export type Copy = {
  write(rows: readonly (readonly CopyValue[])[]): Promise<void>
  /** Resolves when PostgreSQL has taken everything. */
  end(): Promise<void>
  abort(reason: Error): Promise<void>
}

/** Starts COPY … FROM STDIN in text format (PostgreSQL, "COPY", "Text Format"). `table` and `columns` are ours, never input. */
export async function openCopy(tx: Tx, table: string, columns: readonly string[]): Promise<Copy> {
  const stream: Writable = await tx.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`).writable()
  const done = finished(stream)
  done.catch(() => {})
  return {
    write: async (rows) => {
      if (!stream.write(rows.map(toLine).join(''))) await Promise.race([once(stream, 'drain'), done])
    },
    end: async () => {
      stream.end()
      await done
    },
    abort: async (reason) => {
      stream.destroy(reason)
      await done.catch(() => {})
    },
  }
}

function toLine(row: readonly CopyValue[]): string {
  return `${row.map(toField).join('\t')}\n`
}

function toField(value: CopyValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'string') return escapeField(value)
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`
  if (typeof value === 'object') return escapeField(`{${value.map(toArrayElement).join(',')}}`)
  return String(value)
}

const SPECIAL = /[\\\t\n\r]/g
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function escapeField(text: string): string {
  return text.replace(SPECIAL, (character) => ESCAPES[character] as string)
}

function toArrayElement(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
