import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readMigrations } from './read-migrations.ts'

async function readNamed(names: readonly string[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-migrations-'))
  try {
    for (const name of names) await writeFile(join(directory, name), 'select 1;\n')
    return (await readMigrations(pathToFileURL(`${directory}/`))).map(({ name }) => name)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('migrations are read by their numbers', async () => {
  const names = ['0001_baseline.sql', '0002_gates.sql', '0010_runs.sql']
  assert.deepEqual(await readNamed(names.toReversed()), names)
})

test('two migrations of one number or one title are refused', async () => {
  await assert.rejects(
    readNamed(['0001_baseline.sql', '0002_gates.sql', '0002_runs.sql']),
    /^Error: The migrations 0002_gates.sql and 0002_runs.sql have one name: 0002$/,
  )
  await assert.rejects(
    readNamed(['0001_baseline.sql', '0002_gates.sql', '0003_gates.sql']),
    /^Error: The migrations 0002_gates.sql and 0003_gates.sql have one name: gates.sql$/,
  )
})
