import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { assignPlan } from '../../src/access/manage-access.ts'
import { DAY_MS } from '../../src/platform/clock.ts'
import { removeExpired } from '../../src/retention/remove-expired.ts'
import { listRemoved } from '../../src/retention/retention.store.ts'
import { countExpired } from '../../src/retention/retention-figures.ts'
import { undoRegroup } from '../../src/security/issues/undo-regroup.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { uploadReport } from '../support/reports.ts'
import { sarif, sarifResult } from '../support/sarif.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** The plan keeps 90 days. */
async function callerOfTeam(): Promise<Caller> {
  const caller = await api.caller()
  await assignPlan(api.services, caller.slug, 'team')
  return caller
}

/** Returns the number of removed rows by kind. */
async function removeAll(): Promise<Record<string, number>> {
  const expected = await countExpired(api.services)
  assert.equal(await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY }), 'finished')
  const kinds = await listRemoved(api.services.sql)
  const removed = Object.fromEntries(kinds.map(({ kind, removed_in_run }) => [kind, removed_in_run]))
  for (const kind of ['pull_requests', 'pushes', 'deliveries', 'delivery_payloads', 'links'])
    assert.equal(removed[kind] ?? 0, expected[kind], kind)
  return removed
}

const daysAgo = (days: number) => new Date(api.clock.now().getTime() - days * DAY_MS)

async function numbersOf(orgId: string, table: string, column: string): Promise<unknown[]> {
  const { sql } = api.services
  const rows = await sql<{ value: unknown }[]>`
    select ${sql(column)} as value from ${sql(table)} where org_id = ${orgId} order by 1`
  return rows.map(({ value }) => value)
}

async function insertPull(orgId: string, number: number, state: string, at: Date): Promise<void> {
  const { sql } = api.services
  await sql`
    insert into pull_requests (
      org_id, provider, repository_id, number, host_version, title, state, draft, head_ref, head_sha, base_ref,
      base_sha, created_at, updated_at
    )
    values (${orgId}, 'github', '1', ${number}, '1', 'a', ${state}, false, 'a', ${`head-${number}`}, 'main', 'b', ${at}, ${at})`
  await sql`
    insert into pull_request_heads (org_id, provider, repository_id, commit_sha, pull_request)
    values (${orgId}, 'github', '1', ${`head-${number}`}, ${number})`
  await sql`
    insert into pull_request_reviews (org_id, provider, repository_id, id, pull_request, host_version, state, submitted_at)
    values (${orgId}, 'github', '1', ${`${number}`}, ${number}, '1', 'approved', ${at})`
  await insertCheck(orgId, `head-${number}`, at)
}

async function insertCheck(orgId: string, commit: string, started: Date, completed: Date | null = started) {
  await api.services.sql`
    insert into commit_checks (
      org_id, provider, repository_id, commit_sha, id, host_version, name, source, status, started_at, completed_at
    )
    values (${orgId}, 'github', '1', ${commit}, '1', '1', 'build', 'ci', 'success', ${started}, ${completed})`
}

async function insertPush(orgId: string, id: string, at: Date): Promise<void> {
  const { sql } = api.services
  await sql`
    insert into pushes (org_id, provider, repository_id, id, branch, after_sha, forced, pushed_at)
    values (${orgId}, 'github', '1', ${id}, 'main', ${id}, false, ${at})`
  await sql`
    insert into pushed_commits (
      org_id, provider, repository_id, push_id, position, sha, message, author, committer, at
    )
    values (${orgId}, 'github', '1', ${id}, 1, ${id}, 'a', '{}', '{}', ${at})`
}

test('old facts of code hosts go with their parts; open pull requests and their checks stay', async () => {
  const { orgId } = await callerOfTeam()
  await insertPull(orgId, 1, 'merged', daysAgo(100))
  await insertPull(orgId, 2, 'closed', daysAgo(80))
  await insertPull(orgId, 3, 'open', daysAgo(100))
  await insertPush(orgId, 'old', daysAgo(100))
  await insertPush(orgId, 'new', daysAgo(80))
  await insertCheck(orgId, 'old', daysAgo(100))
  await insertCheck(orgId, 'never-ended', daysAgo(100), null)
  await insertCheck(orgId, 'new', daysAgo(80))
  await api.services.sql`
    insert into pull_request_reviews (org_id, provider, repository_id, id, pull_request, host_version, state, submitted_at)
    values (${orgId}, 'github', '1', 'alone', 7, '1', 'approved', ${daysAgo(100)})`
  const removed = await removeAll()
  assert.deepEqual([removed.pull_requests, removed.pull_request_reviews, removed.pushes], [1, 1, 1])
  assert.deepEqual(await numbersOf(orgId, 'pull_requests', 'number'), [2, 3])
  assert.deepEqual(await numbersOf(orgId, 'pull_request_heads', 'pull_request'), [2, 3])
  assert.deepEqual(await numbersOf(orgId, 'pull_request_reviews', 'id'), ['2', '3'])
  assert.deepEqual(await numbersOf(orgId, 'pushed_commits', 'sha'), ['new'])
  assert.deepEqual(await numbersOf(orgId, 'commit_checks', 'commit_sha'), ['head-2', 'head-3', 'new'])
})

test('facts of code hosts stay for as long as records can be amended, and while an old record is to be written', async () => {
  const [short, waiting] = [await api.caller(), await callerOfTeam()]
  await assignPlan(api.services, short.slug, 'free')
  await insertPush(short.orgId, 'amendable', daysAgo(80))
  await insertPush(waiting.orgId, 'imported', daysAgo(100))
  await api.services.sql`
    insert into landings (
      org_id, provider, repository_id, push_id, branch, head_sha, landed_at, noted_at, late, due_at
    )
    values (
      ${waiting.orgId}, 'github', '1', 'imported', 'main', 'imported', ${daysAgo(100)}, ${daysAgo(0)}, true, ${daysAgo(0)}
    )`
  await removeAll()
  assert.deepEqual(await numbersOf(short.orgId, 'pushes', 'id'), ['amendable'])
  assert.deepEqual(await numbersOf(waiting.orgId, 'pushes', 'id'), ['imported'])
  await api.services.sql`update landings set state = 'dropped' where org_id = ${waiting.orgId}`
  await removeAll()
  assert.deepEqual(await numbersOf(waiting.orgId, 'pushes', 'id'), [])
})

test('a review of an environment in another spelling goes with the deployments of its host, and not before', async () => {
  const { orgId } = await callerOfTeam()
  for (const [provider, at] of [
    ['github', 80],
    ['gitlab', 80],
    ['azure', 100],
  ] as const) {
    await api.services.sql`
      insert into deployments (
        org_id, id, provider, host, host_id, repository_id, repository, repository_full_name, environment, status,
        attempt, host_run_id, pipeline_run_id, host_updated_at, commit_sha, gated, created_at, updated_at
      )
      values (
        ${orgId}, ${provider}, ${provider}, 'host', '1', '1', 'shop', 'acme/shop', 'Production', 'success', 1, '9',
        'run', ${daysAgo(at)}, ${'a'.repeat(40)}, false, ${daysAgo(at)}, ${daysAgo(at)}
      )`
    await api.services.sql`
      insert into deployment_reviews (org_id, provider, repository_id, run_id, environment, attempt, state, reviewer, at, is_listed, times)
      values (${orgId}, ${provider}, '1', '9', 'production', 1, 'approved', 'ann', ${daysAgo(100)}, true, 1)`
  }
  await removeAll()
  assert.deepEqual(await numbersOf(orgId, 'deployments', 'id'), ['github', 'gitlab'])
  assert.deepEqual(await numbersOf(orgId, 'deployment_reviews', 'provider'), ['github'])
})

test('a branch that no report was about since goes with its open findings; the tracked branch stays', async () => {
  const caller = await callerOfTeam()
  const on = (ref: string, line = 1) =>
    uploadReport(api, caller, sarif([sarifResult(ref, line)]), { gitRef: ref, tracked: ref === 'main' })
  for (const ref of ['main', 'merged', 'alive']) await on(ref)
  api.clock.advance(100 * DAY_MS)
  await on('alive', 2)
  const removed = await removeAll()
  assert.deepEqual([removed.finding_streams, removed.findings], [1, 1])
  assert.deepEqual(await numbersOf(caller.orgId, 'findings', 'rule_id'), ['alive', 'main'])
  assert.deepEqual(await numbersOf(caller.orgId, 'finding_streams', 'git_ref'), ['alive', 'main'])
  assert.equal((await on('merged')).status, 'finished')
})

test('deliveries, payloads and used links are counted and removed, also without an organization', async () => {
  const { sql } = api.services
  const insertDelivery = (received: Date, applied: Date | null) => sql`
    insert into codehost_deliveries (id, provider, event, lane, shard, received_at, status, applied_at, payload)
    values (
      ${randomUUID()}, 'github', 'push', 'lane', 0, ${received}, ${applied ? 'applied' : 'received'}, ${applied}, '{}'
    )`
  await insertDelivery(daysAgo(91), daysAgo(91))
  await insertDelivery(daysAgo(20), daysAgo(15))
  await insertDelivery(daysAgo(20), daysAgo(13))
  await insertDelivery(daysAgo(91), null)
  const { orgId } = await callerOfTeam()
  const insertLink = (kind: string, expires: Date, closed: Date | null) => sql`
    insert into links (
      org_id, id, kind, token_sha256, email, built_in_role, created_by_name, created_at, expires_at, closed_at
    )
    values (
      ${orgId}, ${randomUUID()}, ${kind}, sha256(${randomUUID()}::bytea),
      ${kind === 'invitation' ? `${randomUUID()}@example.com` : null}, 'viewer', 'a', ${expires}, ${expires}, ${closed}
    )`
  await insertLink('setup', daysAgo(91), null)
  await insertLink('setup', daysAgo(89), null)
  await insertLink('invitation', daysAgo(91), null)
  await insertLink('invitation', daysAgo(120), daysAgo(91))
  const removed = await removeAll()
  assert.deepEqual([removed.delivery_payloads, removed.deliveries, removed.links], [2, 1, 2])
  const kept = await sql`select from codehost_deliveries where payload is not null`
  assert.equal(kept.length, 2)
  const again = await removeAll()
  assert.deepEqual([again.delivery_payloads, again.deliveries, again.links], [0, 0, 0])
})

test('a regroup that has expired cannot be undone, also while rows of it are left', async () => {
  const { orgId } = await callerOfTeam()
  const { sql } = api.services
  const id = randomUUID()
  await sql`
    insert into issue_regroups (org_id, id, status, batches, started_at, updated_at)
    values (${orgId}, ${id}, 'finished', 1, ${daysAgo(100)}, ${daysAgo(100)})`
  await sql`
    insert into issue_regroup_issues (org_id, regroup_id, batch, repository_no, issue_id, is_new)
    select ${orgId}, ${id}, 1, 1, gen_random_uuid(), false from generate_series(1, 250)`
  const stopped = new AbortController()
  const interrupted = removeExpired(api.services, {
    sliceMs: Number.POSITIVE_INFINITY,
    stopping: stopped.signal,
    onRemoved: (removed) => removed > 0 && stopped.abort(),
  })
  await assert.rejects(interrupted)
  assert.equal((await numbersOf(orgId, 'issue_regroup_issues', 'batch')).length, 150)
  await assert.rejects(
    undoRegroup(api.services, orgId, id, () => {}),
    { code: 'expired_regroup' },
  )
  await removeExpired(api.services, { sliceMs: Number.POSITIVE_INFINITY })
  assert.deepEqual(await numbersOf(orgId, 'issue_regroups', 'id'), [])
})

test('of the daily figures of issues, the last one before the retention stays', async () => {
  const { orgId } = await callerOfTeam()
  for (const days of [200, 150, 10])
    await api.services.sql`
      insert into issue_days (org_id, day, critical, high, medium, low, info, counted_at)
      values (${orgId}, ${daysAgo(days)}::date, 0, 0, 0, 0, 0, ${daysAgo(days)})`
  await removeAll()
  assert.equal((await numbersOf(orgId, 'issue_days', 'day')).length, 2)
})
