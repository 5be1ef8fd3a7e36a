import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import { startWorkerThread } from '../../src/start/work-in-thread.ts'

test('a thread that dies is started again, and stops on request', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-thread-'))
  const config = readConfig({ SHIPLOCK_DATA_DIR: dataDir })
  const module = new URL('../support/dying-thread.ts', import.meta.url)
  const log = createLog('silent')
  const thread = startWorkerThread({ config, database: { url: '', address: '' } }, { log, module, restartPauseMs: 1 })
  await thread.ready
  await thread.close()
  assert.equal(readFileSync(join(dataDir, 'starts'), 'utf8'), 'xx stopped')
  rmSync(dataDir, { recursive: true })
})
