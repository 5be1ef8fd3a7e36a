import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const directory = mkdtempSync(join(tmpdir(), 'shiplock-report-'))
after(() => rmSync(directory, { recursive: true }))
let files = 0

/** Writes a file that is removed after the tests. Returns its path. */
export function writeReport(content: string | Uint8Array, name = `report-${++files}`): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

export const FIXTURES = new URL('../fixtures/', import.meta.url).pathname
