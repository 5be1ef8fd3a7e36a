import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Check } from 'typebox/value'
import { toCanonicalJson } from '../../../../src/platform/crypto/signed-bytes.ts'
import { expireLinkBodies } from '../../../../src/provenance/chain/expire-link-bodies.ts'
import { Change, ListedChange } from '../../../../src/provenance/changes/change.schema.ts'
import { DEVIATIONS } from '../../../../src/provenance/changes/change-record.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError, assertInvalid } from '../../../support/assert-error.ts'
import {
  ALICE,
  checkOf,
  commitOf,
  HEAD,
  MERGE,
  mergedRecord,
  NO_RULES,
  pushedRecord,
} from '../../../support/change-records.ts'
import type { Json } from '../../../support/json.ts'
import { testListContract } from '../../../support/list-contract.ts'
import { link } from '../../../support/repositories.ts'
import { amendChange, storeChange } from '../../../support/stored-changes.ts'

const ROOT = new URL('../../../../../', import.meta.url)
const LIST = '/v1/changes'
const DAY_MS = 86_400_000

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

testListContract({
  path: LIST,
  limitDefault: 50,
  limitMax: 100,
  hasWindow: true,
  plan: 'team',
  retentionDays: 90,
  filters: [{ branch: 'main' }, { branch: 'other' }],
  store: async (to, caller, count) => {
    for (let stored = 0; stored < count; stored++) await storeChange(to.services, caller, pushedRecord())
  },
})

function get({ key }: Caller, path: string): Promise<Answer> {
  return api.request('GET', path, { key })
}

async function listIds(caller: Caller, query: Record<string, string> = {}): Promise<string[]> {
  const { status, body, text } = await get(caller, `${LIST}?${new URLSearchParams(query)}`)
  assert.equal(status, 200, text)
  return body.data.map((item: Json) => item.id)
}

const REPOSITORY = mergedRecord().repository

/** The record of a pull request with a value in every field. */
function fullRecord() {
  return mergedRecord({
    branch_rules: { ...NO_RULES, required_checks: ['build'] },
    runs: [{ id: 'github_1', pipeline_name: 'CI', attempt: 2, status: 'success', url: null, completed_at: null }],
    code_owners: {
      path: '.github/CODEOWNERS',
      commit_sha: HEAD,
      rules: [{ pattern: '*', owners: ['@bob'], files: 1, approved_by: ['bob'], satisfied: true }],
    },
    security: {
      open: { critical: 1, high: 2, medium: 3, low: 4, info: 5 },
      known_exploited: 1,
      added: { critical: 0, high: 1, medium: 0, low: 0, info: 0, known_exploited: 0 },
    },
  })
}

test('a change is returned with every field of its record and its place in the chain', async () => {
  const caller = await api.caller()
  const now = api.clock.now().toISOString()
  await storeChange(api.services, caller, pushedRecord())
  const record = await storeChange(api.services, caller, fullRecord())
  const { body } = await get(caller, `${LIST}/${record.id}`)
  const { chain, ...change } = body.data
  const { deviations: recorded_deviations } = record
  assert.deepEqual(change, { ...record, recorded_deviations, amendments: [], created_at: now, recorded_at: now })
  assert.deepEqual(Object.keys(body.data), Object.keys(Change.properties))
  assert.equal(Check(Change, body.data), true)
  assert.equal(chain.index, 1)
  const previous = Buffer.from(chain.previous_hash, 'hex')
  assert.equal(chain.hash, createHash('sha256').update(previous).update(toCanonicalJson(record)).digest('hex'))
})

test('the list has the same fields, and names none as omitted', async () => {
  const caller = await api.caller()
  const record = await storeChange(api.services, caller, fullRecord())
  const { data } = (await get(caller, `${LIST}/${record.id}`)).body
  const listed = (await get(caller, LIST)).body.data
  assert.deepEqual(listed, [{ ...data, omitted: [] }])
  assert.equal(Check(ListedChange, listed[0]), true)
})

test('the first change of a repository has no previous hash; chains of repositories are separate', async () => {
  const caller = await api.caller()
  const other = { ...REPOSITORY, id: '1002', full_name: 'acme/gears' }
  for (const repository of [REPOSITORY, other]) await storeChange(api.services, caller, pushedRecord({ repository }))
  for (const { chain } of (await get(caller, LIST)).body.data)
    assert.deepEqual([chain.index, chain.previous_hash], [0, null])
})

test('amendments follow the record, and their deviations are added to those of the change', async () => {
  const caller = await api.caller()
  const record = await storeChange(api.services, caller, mergedRecord())
  api.clock.advance(1000)
  const check = checkOf('failure', { commit_sha: MERGE })
  const amendment = { kind: 'check', facts: { check, deviations: ['check_failed'] } } as const
  await amendChange(api.services, caller, record, { ...amendment, facts: { check, deviations: ['check_failed'] } })
  const { data } = (await get(caller, `${LIST}/${record.id}`)).body
  assert.equal(Check(Change, data), true)
  assert.deepEqual([data.deviations, data.recorded_deviations], [['check_failed'], []])
  const [{ chain, ...shown }] = data.amendments
  assert.deepEqual(shown, { ...amendment, at: api.clock.now().toISOString() })
  assert.deepEqual([chain.index, chain.previous_hash], [1, data.chain.hash])
  assert.deepEqual(await listIds(caller, { deviation: 'check_failed' }), [record.id])
})

test('the script in docs/changes.md recomputes the hashes of a record and its amendments', async () => {
  const caller = await api.caller()
  await storeChange(api.services, caller, pushedRecord())
  const record = await storeChange(api.services, caller, fullRecord())
  const check = checkOf('failure', { commit_sha: MERGE })
  const facts = { check, deviations: ['check_failed' as const] }
  await amendChange(api.services, caller, record, { kind: 'check', facts })
  const { text } = await get(caller, `${LIST}/${record.id}`)
  const [, script = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync(new URL('docs/changes.md', ROOT), 'utf8')) ?? []
  const run = (input: string) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { input, cwd: ROOT, encoding: 'utf8' })
  assert.equal(run(text), 'true\ntrue\n')
  assert.equal(run(text.replace('Add a widget', 'Add a gadget')), 'false\ntrue\n')
})

test('a long change is listed without its long parts, which are named', async () => {
  const caller = await api.caller()
  const list = Array.from({ length: 200 }, () => commitOf(ALICE))
  const commits = { ...mergedRecord().commits, list }
  const record = await storeChange(api.services, caller, { ...fullRecord(), commits })
  const [listed] = (await get(caller, LIST)).body.data
  assert.equal(Check(ListedChange, listed), true)
  const omitted = ['commits.list', 'reviews', 'checks', 'runs', 'code_owners.rules', 'amendments']
  assert.deepEqual(listed.omitted, omitted)
  assert.deepEqual([listed.commits, listed.code_owners.rules], [{ ...commits, list: [] }, []])
  const { data } = (await get(caller, `${LIST}/${record.id}`)).body
  assert.equal(data.commits.list.length, 200)
  for (const field of ['repository', 'branch', 'pull_request', 'deviations', 'chain', 'security'])
    assert.deepEqual(listed[field], data[field], field)
})

test('the change of a pull request is found by the id of the pull request', async () => {
  const caller = await api.caller()
  const record = await storeChange(api.services, caller, mergedRecord())
  assert.equal((await get(caller, `${LIST}/pr_github_1001_7`)).body.data.id, record.id)
  assertError(await get(caller, `${LIST}/pr_github_1001_8`), 404, 'not_found')
  assertError(await get(await api.caller(), `${LIST}/pr_github_1001_7`), 404, 'not_found')
})

test('409 statement_unavailable with NOT_LANDED for a pull request that was not merged', async () => {
  const caller = await api.caller()
  await api.services.sql`
    insert into pull_requests (
      org_id, provider, repository_id, number, host_version, title, state, draft, head_ref, head_sha, base_ref, base_sha,
      created_at, updated_at
    )
    values (
      ${caller.orgId}, 'github', '1001', 9, '1', 'Open', 'open', false, 'feature', ${HEAD}, 'main', ${MERGE},
      ${api.clock.now()}, ${api.clock.now()}
    )`
  const answer = await get(caller, `${LIST}/pr_github_1001_9`)
  assertError(answer, 409, 'statement_unavailable')
  assert.equal(answer.body.error.details.reason, 'NOT_LANDED')
})

test("404 and no place in the list for a change beyond the plan's retention", async () => {
  const caller = await api.caller({ plan: 'team' })
  const { id } = await storeChange(api.services, caller, mergedRecord())
  api.clock.advance(90 * DAY_MS)
  assert.deepEqual(await listIds(caller), [id])
  api.clock.advance(1)
  assert.deepEqual(await listIds(caller), [])
  for (const name of [id, 'pr_github_1001_7', 'chg_unknown'])
    assertError(await get(caller, `${LIST}/${name}`), 404, 'not_found')
})

test('404 and no place in the list for a change whose record was removed under an earlier plan', async () => {
  const caller = await api.caller()
  const { id } = await storeChange(api.services, caller, mergedRecord())
  api.clock.advance(1000)
  const { id: later } = await storeChange(api.services, caller, pushedRecord())
  assert.equal(await expireLinkBodies(api.services, { org_id: caller.orgId, since: api.clock.now() }), 1)
  assert.deepEqual(await listIds(caller), [later])
  assertError(await get(caller, `${LIST}/${id}`), 404, 'not_found')
})

test('403 without the scope read:attestations', async () => {
  const caller = await api.caller({ scopes: ['read:deployments', 'read:security'] })
  for (const path of [LIST, `${LIST}/chg_1`]) assert.equal((await get(caller, path)).status, 403)
})

test('repository filters by the name that a repository has now, without regard to case', async () => {
  const caller = await api.caller()
  const other = { ...REPOSITORY, id: '1002', full_name: 'acme/gears' }
  const record = await storeChange(api.services, caller, pushedRecord())
  await storeChange(api.services, caller, pushedRecord({ repository: other }))
  await link(api, caller, { provider: 'github', id: '1001', name: 'acme/renamed' })
  await link(api, caller, { provider: 'github', id: '1002', name: 'acme/gears' })
  assert.deepEqual(await listIds(caller, { repository: 'ACME/renamed' }), [record.id])
  assert.deepEqual(await listIds(caller, { repository: 'acme/renamed', provider: 'github' }), [record.id])
  assert.deepEqual(await listIds(caller, { repository: 'acme/renamed', provider: 'gitlab' }), [])
  assert.deepEqual(await listIds(caller, { repository: 'acme/widgets' }), [])
})

test('400 REPOSITORY_AMBIGUOUS for a name on several code hosts, unless provider decides', async () => {
  const caller = await api.caller()
  const at = (provider: string) => ({ ...REPOSITORY, provider })
  const github = await storeChange(api.services, caller, pushedRecord({ repository: at('github') }))
  const gitlab = await storeChange(api.services, caller, pushedRecord({ repository: at('gitlab') }))
  for (const provider of ['github', 'gitlab'] as const)
    await link(api, caller, { provider, id: '1001', name: 'acme/widgets' })
  const query = { repository: 'acme/widgets' }
  assertError(await get(caller, `${LIST}?${new URLSearchParams(query)}`), 400, 'REPOSITORY_AMBIGUOUS')
  assert.deepEqual(await listIds(caller, { ...query, provider: 'github' }), [github.id])
  assert.deepEqual(await listIds(caller, { ...query, provider: 'gitlab' }), [gitlab.id])
})

test('branch, deviation and commit filter exactly, alone and together', async () => {
  const caller = await api.caller()
  const sha = 'c'.repeat(40)
  const { commits } = mergedRecord()
  const merged = await storeChange(api.services, caller, mergedRecord({ reviews: [] }))
  const pushed = await storeChange(api.services, caller, pushedRecord({ branch: 'release/1' }))
  const signed = await storeChange(
    api.services,
    caller,
    pushedRecord({ commits: { ...commits, list: [commitOf(ALICE, sha, false)] } }),
  )
  await link(api, caller, { provider: 'github', id: '1001', name: 'acme/widgets' })
  const expectations: [query: Record<string, string>, records: { id: string }[]][] = [
    [{ branch: 'main' }, [signed, merged]],
    [{ branch: 'release/1' }, [pushed]],
    [{ branch: 'release' }, []],
    [{ deviation: 'direct_push' }, [signed, pushed]],
    [{ deviation: 'no_review' }, [merged]],
    [{ deviation: 'unsigned_commit' }, [signed]],
    [{ deviation: 'stale_review' }, []],
    [{ deviation: 'direct_push', branch: 'main' }, [signed]],
    [{ deviation: 'direct_push', repository: 'acme/widgets' }, [signed, pushed]],
    [{ deviation: 'direct_push', repository: 'acme/widgets', branch: 'release/1' }, [pushed]],
    [{ commit: MERGE }, [signed, pushed, merged]],
    [{ commit: HEAD }, [signed, merged]],
    [{ commit: sha }, [signed]],
    [{ commit: HEAD, deviation: 'no_review', branch: 'main', repository: 'acme/widgets' }, [merged]],
    [{ commit: 'd'.repeat(40) }, []],
  ]
  for (const [query, records] of expectations)
    assert.deepEqual(
      await listIds(caller, query),
      records.map(({ id }) => id),
      JSON.stringify(query),
    )
})

test('every deviation filters the changes that have it, whatever else they have', async () => {
  const caller = await api.caller()
  const ids = new Map<string, string>()
  for (const deviation of DEVIATIONS)
    ids.set(deviation, (await storeChange(api.services, caller, pushedRecord(), [deviation])).id)
  const all = await storeChange(api.services, caller, pushedRecord(), [...DEVIATIONS])
  await storeChange(api.services, caller, pushedRecord(), [])
  for (const deviation of DEVIATIONS)
    assert.deepEqual(await listIds(caller, { deviation }), [all.id, ids.get(deviation)], deviation)
})

test('400 for filters that have no valid form', async () => {
  const caller = await api.caller()
  for (const [name, value] of [
    ['repository', 'widgets'],
    ['provider', 'github'],
    ['deviation', 'nonsense'],
    ['commit', HEAD.slice(1)],
    ['branch', ''],
  ])
    assertInvalid(await get(caller, `${LIST}?${name}=${value}`), `/query/${name}`)
})
