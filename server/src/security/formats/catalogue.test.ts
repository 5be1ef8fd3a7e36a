import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatTitles, REPORT_FORMATS, UPLOAD_FORMATS, VEX_FORMATS } from './catalogue.ts'

test('the titles of formats are the words of a sentence', () => {
  assert.equal(formatTitles(REPORT_FORMATS, 'or'), 'SARIF, CycloneDX or SPDX')
  assert.equal(formatTitles(VEX_FORMATS, 'and'), 'OpenVEX, CSAF and CycloneDX')
  assert.equal(formatTitles(['csaf'], 'and'), 'CSAF')
})

const SCHEMA = readFileSync(new URL('../../../schema.sql', import.meta.url), 'utf8')
const CHECKS: [constraint: string, values: readonly string[]][] = [
  ['security_uploads_format_check', UPLOAD_FORMATS],
  ['security_uploads_requested_format_check', ['auto', ...UPLOAD_FORMATS]],
  ['vex_documents_format_check', VEX_FORMATS],
  ['triages_source_check', ['shiplock', ...VEX_FORMATS]],
]

for (const [constraint, values] of CHECKS) {
  test(`the check ${constraint} has the formats of the catalogue`, () => {
    const [, list = ''] = new RegExp(`constraint ${constraint} CHECK .*ARRAY\\[([^\\]]*)\\]`).exec(SCHEMA) ?? []
    assert.deepEqual(
      [...list.matchAll(/'([^']*)'/g)].map(([, value]) => value),
      values,
    )
  })
}

const SRC = new URL('../../', import.meta.url)
const ANY = new RegExp(`\\b(?:${UPLOAD_FORMATS.join('|')})\\b`, 'gi')
/**
 * The demo and the export write documents of some formats, and the inventory reads the components
 * of others and writes what is stored.
 */
const OTHER_USERS =
  /^(?:demo\/|inventory\/sboms\/(?:record-sbom|sbom\.store)\.ts$|security\/(?:vex\/(?:format-document|vex\.routes)|sboms\/(?:format-sbom|sbom-export\.routes)|intel\/vulnerability\.store)\.ts$)/

test('no other file of the server lists the formats', () => {
  const files = globSync('**/*.ts', { cwd: SRC }).filter(
    (path) => !path.endsWith('.test.ts') && !path.startsWith('security/formats/') && !OTHER_USERS.test(path),
  )
  assert.ok(files.length > 500)
  assert.deepEqual(
    files.filter((path) => countFormats(readFileSync(new URL(path, SRC), 'utf8')) > 1),
    [],
  )
})

/** The number of formats that a file names outside of comments and imports. */
function countFormats(text: string): number {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import [^']*'[^']*'$/gm, '')
  return new Set(code.match(ANY)?.map((name) => name.toLowerCase())).size
}
