import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readSecretFiles } from './environment-reader.ts'

const directory = mkdtempSync(join(tmpdir(), 'shiplock-secrets-'))
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

test('a secret is read from its file, without the line break at the end', () => {
  const path = file('key', 'a secret\n')
  assert.deepEqual(readSecretFiles({ KEY_FILE: path }, ['KEY']), { values: { KEY: 'a secret' }, mistakes: [] })
})

test('only the listed variables are read from files', () => {
  const env = { OTHER_FILE: join(directory, 'missing'), KEY: 'value', KEY_FILE: ' ' }
  assert.deepEqual(readSecretFiles(env, ['KEY']), { values: {}, mistakes: [] })
})

test('a secret that is given twice, an empty file and a missing one are mistakes that name the variable', () => {
  const both = readSecretFiles({ KEY: 'a', KEY_FILE: file('both', 'b') }, ['KEY'])
  assert.deepEqual(both.mistakes, ['KEY and KEY_FILE are both set; set only one of them'])
  const empty = file('empty', ' \n')
  assert.deepEqual(readSecretFiles({ KEY_FILE: empty }, ['KEY']).mistakes, [`KEY_FILE: the file ${empty} is empty`])
  const missing = join(directory, 'missing')
  assert.deepEqual(readSecretFiles({ KEY_FILE: missing }, ['KEY']).mistakes, [
    `KEY_FILE: the file ${missing} cannot be read (ENOENT)`,
  ])
})
