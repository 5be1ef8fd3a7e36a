import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deriveKey, loadSecretKey } from '../../src/platform/crypto/secret-key.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import type { ChainKey } from '../../src/provenance/chain/link.ts'
import type { Services } from '../../src/services.ts'
import { growChain, tamper } from '../support/chains.ts'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running
let sql: Sql
let chain: ChainKey

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-provenance-'))
  running = await startProgram(dataDir)
})
after(async () => {
  await sql?.end()
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
