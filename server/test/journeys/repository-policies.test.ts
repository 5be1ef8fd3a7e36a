import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { HostRefusal } from '../../src/codehosts/code-host.ts'
import type { HostPush } from '../../src/codehosts/host-change.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { evaluateDeployment } from '../../src/compliance/engines/evaluate-deployment.ts'
import { listAllPolicies } from '../../src/compliance/policies/policy.store.ts'
import { followPush, followRepository } from '../../src/compliance/policy-file/read-repository-policies.job.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { createRun } from '../support/ci-runs.ts'
import { fakeCodeHost } from '../support/fake-client.ts'
import { configureGate, openGate } from '../support/gates.ts'
import { hostAccount, hostRepository, insertConnection } from '../support/host-objects.ts'
import { createPerson, requestAs } from '../support/people.ts'
import { apply } from '../support/policies.ts'
import { drainQueue } from '../support/queue.ts'

const PUSHED_AT = new Date('2026-03-01T12:00:00.000Z')
const PATH = '.shiplock/policies/tests.yaml'

/** The files of each commit, by path. */
const commits = new Map<string, Record<string, string>>()
const blobs = new Map<string, string>()
const read: string[] = []
const host = fakeCodeHost({
  readBranchHead: async () => [...commits.keys()].at(-1) ?? null,
  listFolder: async (_repository, folder, ref) =>
    Object.entries(commits.get(ref) ?? {})
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, text]) => ({ path, blob: blobOf(text) })),
  readFile: async (_repository, { blob }) => {
    read.push(blob)
    return blobs.get(blob) ?? null
  },
})

let api: TestApi
let caller: Caller
let source: HostSource

before(async () => {
  api = await startTestApi({ codeHosts: host.codeHosts })
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  await api.services.sql`update codehost_connections set status = 'removed'`
  source = await insertConnection(api.services.sql, caller.orgId)
  commits.clear()
  host.acted.length = 0
  read.length = 0
})

function blobOf(text: string): string {
  const blob = createHash('sha1').update(text).digest('hex')
  blobs.set(blob, text)
  return blob
}

const policy = (name: string, expression = 'true') =>
  `name: ${name}\nmode: enforce\nbindings: { environments: [production] }\nrules:\n  - rule: r\n    expression: '${expression}'\n`

let commitNumber = 0

/** Makes a commit with these files. */
function commit(files: Record<string, string>): string {
  commitNumber += 1
  const sha = commitNumber.toString(16).padStart(40, '0')
  commits.set(sha, files)
  return sha
}

async function push(after: string, fields: Partial<HostPush> = {}): Promise<void> {
  api.clock.advance(1000)
  const data = {
    ...{
      repository: hostRepository(),
      ref: 'refs/heads/main',
      before: null,
      after,
      forced: false,
      by_merge_queue: false,
    },
    ...{ pusher: hostAccount(), commits: [], pushed_at: PUSHED_AT },
    ...fields,
  }
  await api.services.sql.begin((tx) => followPush(api.services, tx, source, data))
  await drainQueue(api)
}

async function stored() {
  const policies = await listAllPolicies(api.services.sql, caller.orgId)
  return policies.map(({ name, version, repository_id, path }) => [name, version, repository_id, path])
}

/** Returns the decision and the policies of a deployment from a repository. */
async function decide(repository = 'github.com/acme/shop') {
  const deployment = {
    ...{ org_id: caller.orgId, deployment_id: 'd', run_id: null, attempt: 1, environment: 'production', repository },
    ...{ branch: 'main', commit_sha: 'a'.repeat(40), policies: [] },
  }
  const { decision, policies } = await evaluateDeployment(api.services, deployment)
  return [decision, policies.map(({ name }) => name)]
}

async function statuses(): Promise<unknown[]> {
  const rows = await api.services.sql<{ action: { state: string; description: string } }[]>`
    select action
    from codehost_calls
    where org_id = ${caller.orgId}
    order by created_at, id`
  return rows.map(({ action: { state, description } }) => [state, description])
}

test('a push to the tracked branch applies the files to their repository only', async () => {
  await apply(api, caller, policy('everywhere'))
  await push(commit({ [PATH]: policy('own'), '.shiplock/policies/README.md': 'text' }))
  assert.deepEqual(await stored(), [
    ['everywhere', 1, null, null],
    ['own', 1, '1001', PATH],
  ])
  assert.deepEqual(await decide(), ['approve', ['everywhere', 'own']])
  assert.deepEqual(await decide('github.com/acme/other'), ['approve', ['everywhere']])
  assert.deepEqual(await decide('gitlab.com/acme/shop'), ['approve', ['everywhere']])
  assert.deepEqual(await statuses(), [['success', '1 policy is valid']])
})

test('changed content is a new version; a file that did not change is not read again', async () => {
  await push(commit({ [PATH]: policy('own') }))
  await push(commit({ [PATH]: policy('own') }), { pushed_at: new Date(PUSHED_AT.getTime() + 1000) })
  assert.deepEqual(await stored(), [['own', 1, '1001', PATH]])
  assert.equal(read.length, 1)
  const renamed = policy('renamed', 'false')
  await push(commit({ [PATH]: renamed }), { pushed_at: new Date(PUSHED_AT.getTime() + 2000) })
  assert.deepEqual(await stored(), [['renamed', 2, '1001', PATH]])
  assert.deepEqual(await decide(), ['block', ['renamed']])
})

test('a broken file keeps its last good version, and the commit status names the mistake', async () => {
  await push(commit({ [PATH]: policy('own') }))
  const later = new Date(PUSHED_AT.getTime() + 1000)
  await push(commit({ [PATH]: 'name: own\nmode: strict\n', '.shiplock/policies/b.rego': 'x' }), { pushed_at: later })
  assert.deepEqual(await stored(), [['own', 1, '1001', PATH]])
  assert.deepEqual(await decide(), ['none', ['own']])
  assert.deepEqual((await statuses()).at(-1), [
    'failure',
    'tests.yaml: line 1, column 1: rules: is required and must be a list of 1 to 50 items (and 1 more)',
  ])
})

test('the files of a repository that was connected are read without a push, and once', async () => {
  commit({ [PATH]: policy('own') })
  const listed = async () => {
    const event = { repository: hostRepository(), change: 'changed' } as const
    await api.services.sql.begin((tx) => followRepository(api.services, tx, source, event))
    await drainQueue(api)
  }
  await listed()
  assert.deepEqual(await stored(), [['own', 1, '1001', PATH]])
  commit({ [PATH]: policy('later') })
  await listed()
  assert.deepEqual(await stored(), [['own', 1, '1001', PATH]])
  await push(commit({ [PATH]: policy('pushed') }))
  assert.deepEqual(await stored(), [['pushed', 2, '1001', PATH]])
})

test('files that the host does not let us read keep their last good versions', async () => {
  await push(commit({ [PATH]: policy('own') }))
  const { listFolder } = host.answers
  host.answers.listFolder = async () => {
    throw new HostRefusal(403, 'No')
  }
  await push(commit({}), { pushed_at: new Date(PUSHED_AT.getTime() + 1000) })
  host.answers.listFolder = listFolder as NonNullable<typeof listFolder>
  assert.deepEqual(await stored(), [['own', 1, '1001', PATH]])
  assert.deepEqual((await statuses()).at(-1), ['failure', 'tests.yaml: the file could not be read'])
})

test('a deleted file removes its policy, and a restored one continues its versions', async () => {
  const at = (seconds: number) => ({ pushed_at: new Date(PUSHED_AT.getTime() + seconds * 1000) })
  await push(commit({ [PATH]: policy('own') }))
  await push(commit({}), at(1))
  assert.deepEqual(await stored(), [])
  assert.deepEqual(await decide(), ['none', []])
  await push(commit({ [PATH]: policy('own', 'false') }), at(2))
  assert.deepEqual(await stored(), [['own', 2, '1001', PATH]])
})

test('a file that is restored as it was is applied and audited again', async () => {
  const at = (seconds: number) => ({ pushed_at: new Date(PUSHED_AT.getTime() + seconds * 1000) })
  for (const [index, files] of [{ [PATH]: policy('own') }, {}, { [PATH]: policy('own') }].entries())
    await push(commit(files), at(index))
  assert.deepEqual(await stored(), [['own', 2, '1001', PATH]])
  const entries = await api.services.sql<{ action: string }[]>`
    select action
    from audit_entries
    where org_id = ${caller.orgId}
      and action like 'policy.%'
    order by at, id`
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['policy.apply', 'policy.remove', 'policy.apply'],
  )
})

test('a push that arrives late changes nothing, and neither does one to another branch', async () => {
  const [older, newer] = [commit({ [PATH]: policy('older') }), commit({ [PATH]: policy('newer') })]
  await push(newer, { pushed_at: new Date(PUSHED_AT.getTime() + 1000) })
  await push(older)
  await push(commit({ [PATH]: policy('topic') }), {
    ref: 'refs/heads/topic',
    pushed_at: new Date(PUSHED_AT.getTime() + 9000),
  })
  assert.deepEqual(await stored(), [['newer', 1, '1001', PATH]])
})

test('fields that reach beyond the repository are refused', async () => {
  const beyond = policy('own').replace('environments: [production]', "repositories: ['*']")
  const opa = 'name: a\nmode: enforce\nengine: opa\ndecision: system/main\n'
  await push(commit({ [PATH]: beyond, '.shiplock/policies/opa.yaml': opa }))
  assert.deepEqual(await stored(), [])
  assert.match(String((await statuses())[0]), /^failure,tests\.yaml: .*bindings\.repositories.*\(and 1 more\)$/)
})

test('a policy in a repository does not stand in for one that a gate names', async () => {
  await push(commit({ [PATH]: policy('own') }))
  const deployment = {
    ...{ org_id: caller.orgId, deployment_id: 'd', run_id: null, attempt: 1, environment: 'production' },
    ...{ repository: 'github.com/acme/shop', branch: 'main', commit_sha: 'a'.repeat(40), policies: ['own'] },
  }
  const { decision } = await evaluateDeployment(api.services, deployment)
  assert.equal(decision, 'block')
})

test('a policy file of a repository can only block, and the decision names its path', async () => {
  const ada = await createPerson(api, { ...caller, role: 'release_manager' })
  await configureGate(api, caller)
  const open = async () => {
    const run = await createRun(api, caller, { repository: 'github.com/acme/shop', ref: 'main' })
    return openGate(api, caller, { run_id: run.id })
  }
  await push(commit({ [PATH]: policy('own') }))
  const passing = await open()
  assert.deepEqual([passing.decision, passing.note], ['pending', null])
  await push(commit({ [PATH]: policy('own', 'false') }), { pushed_at: new Date(PUSHED_AT.getTime() + 1000) })
  const blocked = await open()
  assert.deepEqual([blocked.decision, blocked.note], ['pending', 'own: r'])
  const { body } = await requestAs(api, ada, 'GET', `/deployments/${blocked.deployment_id}/decision`)
  const [shown] = body.data.policies
  assert.deepEqual([shown.name, shown.path, shown.decision], ['own', PATH, 'block'])
})

test('Rego without an OPA server is reported', async () => {
  const rego = `# METADATA
# title: Rego
# custom: { shiplock: { format: 1, mode: enforce } }
package shiplock.policy
results := []
`
  await push(commit({ '.shiplock/policies/a.rego': rego }))
  assert.match(String((await statuses())[0]), /^failure,a\.rego: line 1, column 1: Rego requires an OPA server/)
})
