import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scheduledJobs } from '../../src/jobs.ts'
import { verifyChainsDaily } from '../../src/provenance/chain/verify-chains.job.ts'
import { startTestApi } from '../support/api.ts'
import { tamper } from '../support/chains.ts'
import { logLines } from '../support/log-lines.ts'
import { recordChange } from '../support/recorded-changes.ts'
import { assertReason, openStatement } from '../support/statements.ts'

test('the daily job walks every chain; a change of any record ends new statements of its repository', async () => {
  const api = await startTestApi()
  try {
    const caller = await api.caller()
    const repository = (id: string) => ({ provider: 'github', host: 'github.com', id, full_name: `acme/${id}` })
    const changed = await recordChange(api.services, caller.orgId, { repository: repository('1') })
    const later = await recordChange(api.services, caller.orgId, { repository: repository('1') })
    const other = await recordChange(api.services, caller.orgId, { repository: repository('2') })
    const { log, lines } = logLines()
    const run = () => verifyChainsDaily.run({ ...api.services, log }, {})
    const ask = (id: string) => api.request('GET', `/v1/provenance/changes/${id}/statement`, { key: caller.key })
    await run()
    const at = new Date(api.clock.now().getTime() + 1000)
    await tamper(api, (tx) => tx`update chain_links set at = ${at} where change_id = ${changed.id}`)
    await run()
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [
        [30, 'The chains of change records were verified'],
        [50, 'Chains of change records do not verify; see "provenance verify"'],
      ],
    )
    assertReason(await ask(later.id), 409, 'CHAIN_BROKEN')
    openStatement(await ask(other.id))
    assert.ok(scheduledJobs.includes(verifyChainsDaily))
  } finally {
    await api.close()
  }
})
