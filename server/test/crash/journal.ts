import { openSync, readFileSync, writeSync } from 'node:fs'
import type { Json } from '../support/json.ts'

/**
 * A write that the server has acknowledged. A later entry with the same kind and id replaces an
 * earlier one.
 */
export type Acknowledged = { kind: Kind; id: string } & Json

export type Kind = 'run' | 'report' | 'artifact' | 'upload' | 'gate' | 'decision' | 'policy' | 'key' | 'triage'

/**
 * An append-only file of acknowledged writes. Only the load writes it, and the load is not killed.
 */
export class Journal {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  note(entry: Acknowledged): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
  }
}

/** How many writes were acknowledged, and the last one of each object. */
export function readJournal(path: string): { writes: number; entries: Acknowledged[] } {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const last = new Map<string, Acknowledged>()
  for (const line of lines) {
    const entry = JSON.parse(line) as Acknowledged
    last.set(`${entry.kind} ${entry.id}`, entry)
  }
  return { writes: lines.length, entries: [...last.values()] }
}
