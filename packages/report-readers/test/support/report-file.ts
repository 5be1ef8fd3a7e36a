import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { FoundFile } from '../../src/found-file.ts'

const directory = mkdtempSync(join(tmpdir(), 'shiplock-report-'))
after(() => rmSync(directory, { recursive: true }))
let files = 0

/** Writes a file that is removed after the tests. */
export function writeReport(content: string | Uint8Array, name = `report-${++files}`): FoundFile {
  const path = join(directory, name)
  writeFileSync(path, content)
  return fileAt(path)
}

/** The file of an absolute path. */
export function fileAt(path: string): FoundFile {
  const file = FoundFile.at(path)
  if (file === null) throw new Error(`There is no file ${path}`)
  return file
}

export const FIXTURES = new URL('../fixtures/', import.meta.url).pathname
