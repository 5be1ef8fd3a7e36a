import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { applyAlert } from '../../src/security/alerts/read-alert.job.ts'
import { openDatabase } from '../../src/start/database.ts'
import { openServices } from '../../src/start/open-services.ts'
import { codeAlert } from '../support/host-alerts.ts'
import { insertConnection } from '../support/host-objects.ts'
import { type Running, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

const ID = 'gh_alert_code_scanning_1001_1'

let dataDir: string
let running: Running

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-alerts-'))
  running = await startProgram(dataDir)
  await insertAlerts()
})
after(async () => {
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, args)
const refused = (code: number, line: RegExp, ...args: string[]) => assertRefused(dataDir, code, line, args)

/** Two open alerts of the default organization, as its code host states them. */
async function insertAlerts(): Promise<void> {
  const config = readConfig({ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' })
  await using opened = new AsyncDisposableStack()
  const database = await openDatabase(config, () => {})
  opened.defer(() => database.close())
  const { services, close } = await openServices(config, database, { applicationName: 'test', connections: 1 })
  opened.defer(close)
  const [organization] = await services.sql<[{ id: string }]>`select id from organizations`
  const source = await insertConnection(services.sql, organization.id)
  await services.sql.begin(async (tx) => {
    await applyAlert(services, tx, source, codeAlert())
    await applyAlert(services, tx, source, codeAlert({ number: 2, severity: 'low' }))
  })
}

const dismiss = (id: string, ...args: string[]) => ['alert', 'dismiss', id, '--org', 'default', ...args]

test('alert list and alert dismiss print alerts and how the dismissal is sent', async () => {
  const listed = await json('alert', 'list', '--org', 'default', '--severity', 'high')
  assert.deepEqual(listed, [
    {
      id: ID,
      repository: 'acme/shop',
      type: 'code_scanning',
      severity: 'high',
      status: 'open',
      dismissal_delivery: null,
      title: 'Database query built from user-controlled sources',
    },
  ])
  const printed = await json(...dismiss(ID, '--reason', 'false_positive', '--comment', 'Checked.'))
  assert.deepEqual(printed, { id: ID, status: 'dismissed', dismissal_delivery: 'pending' })
  const [dismissed] = await json('alert', 'list', '--org', 'default', '--status', 'dismissed')
  assert.deepEqual([dismissed.id, dismissed.dismissal_delivery], [ID, 'pending'])
  await refused(1, /^The alert is dismissed/m, ...dismiss(ID, '--reason', 'wont_fix'))
})

test('alert dismiss refuses unknown alerts and reasons, and long comments', async () => {
  await refused(1, /^The alert does not exist/m, ...dismiss('gh_alert_x', '--reason', 'wont_fix'))
  await refused(2, /--reason must be one of false_positive, wont_fix/, ...dismiss(ID, '--reason', 'bored'))
  const long = ['--reason', 'wont_fix', '--comment', 'x'.repeat(281)]
  await refused(2, /must not be longer than 280 characters/, ...dismiss('gh_alert_code_scanning_1001_2', ...long))
})
