import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '../support/json.ts'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-environments-'))
  running = await startProgram(dataDir)
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const environment = (action: string, ...args: string[]) =>
  printedBy(dataDir, ['environment', action, ...args, '--org', 'default'])
const refused = (code: number, line: RegExp, ...args: string[]) =>
  assertRefused(dataDir, code, line, ['environment', ...args, '--org', 'default'])

test('environment set, list, move and delete print the entries', async () => {
  const first = await environment('set', '--environment', 'prod-*', '--exposure', 'internet')
  const { id, created_at, updated_at, ...stated } = first
  assert.equal(updated_at, created_at)
  assert.deepEqual(stated, {
    ...{ position: 1, environment: 'prod-*', repository: null },
    ...{ exposure: 'internet', criticality: null, production: null },
  })
  const scoped = ['--environment', 'prod-*', '--repository', 'acme/*']
  const second = await environment('set', ...scoped, '--criticality', '5', '--production', 'false')
  assert.deepEqual([second.position, second.criticality, second.production], [2, 5, false])
  assert.equal((await environment('move', second.id, '--to', '1')).position, 1)
  const ids = async () => (await environment('list')).map((entry: Json) => entry.id)
  assert.deepEqual(await ids(), [second.id, id])
  assert.equal((await environment('delete', id)).id, id)
  assert.deepEqual(await ids(), [second.id])
})

test('wrong values are refused with the option', async () => {
  await refused(
    2,
    /--exposure must be one of internet, internal, none/,
    'set',
    '--environment',
    'a',
    '--exposure',
    'all',
  )
  await refused(2, /--criticality must be one of/, 'set', '--environment', 'a', '--criticality', '6')
  await refused(2, /--production must be one of true, false/, 'set', '--environment', 'a', '--production', 'yes')
  await refused(2, /--to must be an integer from 1 to 100/, 'move', 'x', '--to', '0')
  await refused(2, /State at least one of exposure/, 'set', '--environment', 'a')
  await refused(2, /not a valid pattern/, 'set', '--environment', '[*', '--exposure', 'none')
})
