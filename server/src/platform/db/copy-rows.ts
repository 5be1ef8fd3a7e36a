import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type CopyValue, copyFields } from './copy-text.ts'
import type { Tx } from './sql.ts'

/** An open COPY: the fastest way in for many rows. While it is open, its transaction can do nothing else. */
export type Copy = {
  /** Resolves when PostgreSQL can take more: the next rows are best made ready before that. */
  write(rows: readonly (readonly CopyValue[])[]): Promise<void>
  /** The same for rows whose fields are COPY text already. */
  writeLines(lines: readonly string[]): Promise<void>
  /** Resolves when PostgreSQL has taken everything. */
  end(): Promise<void>
  abort(reason: Error): Promise<void>
}

/** Starts COPY … FROM STDIN in text format. `table` and `columns` are ours, never input. */
export async function openCopy(tx: Tx, table: string, columns: readonly string[]): Promise<Copy> {
  const stream: Writable = await tx.unsafe(`copy ${table} (${columns.join(', ')}) from stdin`).writable()
  const done = finished(stream)
  done.catch(() => {})
  const writeLines = async (lines: readonly string[]) => {
    if (lines.length === 0) return
    // Waits for what was written before, not for this: it is on its way while the next rows are made.
    if (stream.writableNeedDrain || stream.destroyed) await Promise.race([once(stream, 'drain'), done])
    stream.write(`${lines.join('\n')}\n`)
  }
  return {
    write: (rows) => writeLines(rows.map(copyFields)),
    writeLines,
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

const ROWS_AT_ONCE = 5000

/** Writes all rows and ends the COPY. */
export async function copyAll(copy: Copy, rows: Iterable<readonly CopyValue[]>): Promise<void> {
  let batch: (readonly CopyValue[])[] = []
  for (const row of rows) {
    if (batch.push(row) < ROWS_AT_ONCE) continue
    await copy.write(batch)
    batch = []
  }
  if (batch.length > 0) await copy.write(batch)
  await copy.end()
}

/** Fills a COPY and ends it. If filling it fails, the COPY is aborted. */
export async function fillCopy<Result>(copy: Copy, fill: (copy: Copy) => Promise<Result>): Promise<Result> {
  try {
    const result = await fill(copy)
    await copy.end()
    return result
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}
