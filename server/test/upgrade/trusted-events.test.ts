import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startTestApi, type TestApi } from '../support/api.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../support/token-caller.ts'

const MIGRATION = readFileSync(new URL('../../migrations/0004_trusted_events.sql', import.meta.url), 'utf8')

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api)
})
after(async () => {
  await caller?.close()
  await api?.close()
})

test('the upgrade notes the events of the runs of 90 days that are no longer verified', async () => {
  const { sql } = api.services
  const ids: Record<string, string> = {}
  const runs = {
    ...{ push: {}, pull_request: { event_name: 'pull_request' }, fork: { event_name: 'fork' } },
    ...{ watch: { event_name: 'watch' }, odd: { event_name: 'No Event' }, none: { event_name: undefined } },
    hosted: { runner_environment: 'self-hosted', repository_visibility: 'public' },
  }
  for (const [name, fields] of Object.entries(runs)) {
    const claims = newRunClaims(fields)
    ids[name] = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data.id
  }
  await sql`update ci_runs set created_at = now() - interval '1 day' where org_id = ${caller.orgId}`
  await sql`update ci_runs set created_at = now() - interval '91 days' where id = ${ids.watch as string}`
  const noted = await sql.begin(async (tx) => {
    await tx`delete from trust_events`
    await tx.unsafe(/^insert into trust_events[\s\S]*/m.exec(MIGRATION)?.[0] ?? assert.fail())
    return tx<Record<string, unknown>[]>`
      select trust_id, event, self_hosted, last_seen = (now() - interval '1 day')::date as is_of_yesterday
      from trust_events
      order by event`
  })
  const common = { trust_id: caller.trustId, is_of_yesterday: true }
  assert.deepEqual(
    noted.map((row) => ({ ...row })),
    [
      { ...common, event: 'fork', self_hosted: false },
      { ...common, event: 'push', self_hosted: true },
    ],
  )
})
