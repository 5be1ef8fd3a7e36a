// No second chance: who may silence findings.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { readReportFile } from '../../../../../src/security/uploads/read-report-file.ts'
import { type Answer, startTestApi, type TestApi } from '../../../../support/api.ts'
import { listFindings } from '../../../../support/findings.ts'
import { configureGate } from '../../../../support/gates.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { apply } from '../../../../support/policies.ts'
import { placedResult, sarif, sarifReport, sarifRun, scoredResult } from '../../../../support/sarif.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../../../../support/token-caller.ts'
import { csaf, notAffected, openVex, vulnerable } from '../../../../support/vex.ts'

/**
 * The job of the tracked branch has reported critical findings, and a gate refuses them. Each attack
 * is what a weaker sender can try to hide them: afterwards all are open, and the gate waits.
 */
const REPOSITORY = { repository: 'acme/shop', provider: 'github', repositoryId: '7770001' }
const LODASH = 'pkg:npm/lodash@4.17.20'
const ID = 'CVE-2021-23337'
const MAIN = { gitRef: 'main' }

let api: TestApi
let caller: TokenCaller
let developer: Person
let security: Person
let key: Send
let held: { id: string; file: Json }
let sent = 0

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
test.afterEach(() => caller.close())

type Send = (method: string, path: string, body?: unknown) => Promise<Answer>

const byJob =
  (claims = {}): Send =>
  (method, path, body) =>
    caller.send(method, path, body, newRunClaims(claims))
const feature = byJob({ ref: 'refs/heads/feature' })
const stranger = byJob({ event_name: 'pull_request_target' })
const byMember =
  (person: Person): Send =>
  (method, path, body) =>
    requestAs(api, person, method, path.replace('/v1', ''), body)

const critical = (purls: Record<string, string>, tool = 'grype') => {
  const document = vulnerable(purls, tool)
  const vulnerabilities = document.vulnerabilities.map((each) => ({ ...each, ratings: [{ severity: 'critical' }] }))
  return { ...document, vulnerabilities }
}
const found = [scoredResult('a', 9.8), scoredResult('b', 9.8)]
const other = (results: object[], tool = 'Linter', fields = {}) => sarif(results, tool, { marks: [++sent], ...fields })

async function upload(send: Send, file: object, fields: Json = {}): Promise<Json> {
  api.clock.advance(2 * 60 * 60_000)
  const bytes = Buffer.from(JSON.stringify(file))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const body = { filename: 'scan.json', size: bytes.length, sha256, ...REPOSITORY, ...fields }
  const created = await send('POST', '/v1/security/uploads', body)
  if (created.status >= 300) return created.body
  const { upload: stored, put } = created.body.data
  if (put !== null) {
    await fetch(put.url, { method: 'PUT', headers: put.headers, body: new Uint8Array(bytes) })
    await send('POST', `/v1/security/uploads/${stored.id}/complete`)
  }
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: stored.id })
  return stored
}

async function decide(): Promise<string> {
  const claims = newRunClaims()
  const run = (await caller.send('POST', '/v1/ci/runs', ownRun(claims), claims)).body.data
  const gate = await caller.send('POST', '/v1/ci/gates', { run_id: run.id, environment: 'production' }, claims)
  return gate.body.data.decision
}

async function listStreams(): Promise<Json[]> {
  const { body } = await api.request('GET', '/v1/security/streams', { key: caller.key })
  return body.data
}

const streamsOf = async (trust: string) => (await listStreams()).filter((stream) => stream.trust === trust)

let guarded: string[]

beforeEach(async () => {
  caller = await startTokenCaller(api)
  const { orgId, slug } = caller
  developer = await createPerson(api, { orgId, slug, role: 'developer' })
  security = await createPerson(api, { orgId, slug, role: 'security' })
  const limited = await api.caller({ orgId, scopes: ['write:ci', 'write:security-findings', 'read:security'] })
  key = (method, path, body) => api.request(method, path, { key: limited.key, body })
  await configureGate(api, caller, { policies: ['critical'] })
  const expression = 'findings.open.critical == 0 && issues.open.critical == 0'
  const bound = "bindings: { environments: ['production'] }"
  const rule = `rules:\n  - rule: critical\n    expression: '${expression}'\n    trust: any\n`
  await apply(api, caller, `name: critical\nmode: enforce\n${bound}\n${rule}`)
  const many = Array.from({ length: 24 }, (_, at) => placedResult({ rule: `m${at}`, file: `src/m${at}.ts` }))
  await upload(byJob(), sarif([...found, ...many], 'Linter'))
  await upload(byJob(), critical({ [LODASH]: ID }))
  // Of the job's next report, which looks like a scan of a part, nothing counts until somebody says so.
  const file = other([])
  held = { id: (await upload(byJob(), file)).id, file }
  guarded = (await listFindings(api, caller)).filter(({ severity }) => severity === 'critical').map(({ id }) => id)
  assert.equal(guarded.length, 3)
})

const gone = (results: object[]) => results.map((result) => ({ ...result, baselineState: 'absent' }))
const suppressed = (results: object[]) =>
  results.map((result) => ({ ...result, suppressions: [{ kind: 'external', status: 'accepted' }] }))
const vexInCycloneDx = (component: Json, ref: string) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: `urn:uuid:00000000-0000-4000-8000-${String(++sent).padStart(12, '0')}`,
  metadata: { component: { 'bom-ref': 'project', ...component } },
  vulnerabilities: [{ id: ID, analysis: { state: 'not_affected' }, affects: [{ ref }] }],
})
const OWN = { type: 'application', name: 'shop', purl: 'pkg:github/acme/shop' }
const endOf = async (trust: string, send: Send) => {
  for (const { id } of await streamsOf(trust))
    assert.equal((await send('POST', `/v1/security/streams/${id}/end`, { reason: 'Old.' })).status, 403)
}

const ATTACKS: [what: string, attack: () => Promise<unknown>][] = [
  ['a key: the same tool without results, complete', () => upload(key, other([]), { ...MAIN, complete: true })],
  ['a key: another edition of the tool', () => upload(key, other([], 'Linter Pro 2.0'), { ...MAIN, complete: true })],
  ['a key: all results stated to be gone', () => upload(key, other(gone(found)), { ...MAIN, complete: true })],
  ['a key: all results suppressed', () => upload(key, other(suppressed(found)), MAIN)],
  [
    'a key: the same results with the lowest score',
    () => upload(key, other(['a', 'b'].map((rule) => scoredResult(rule, 0.1))), MAIN),
  ],
  [
    'a key: a rule that takes over the ids of the others',
    async () => {
      const rules = [{ id: 'new', deprecatedIds: ['a', 'b'] }]
      const run = { ...sarifRun([], 'Linter'), tool: { driver: { name: 'Linter', rules } } }
      await upload(key, sarifReport([run]), { ...MAIN, complete: true })
    },
  ],
  [
    'a key: a category, then a subject',
    async () => {
      await upload(key, other(found), { ...MAIN, category: 'main' })
      await upload(key, other([]), { ...MAIN, category: 'main', complete: true })
      await upload(key, { ...critical({}), metadata: { component: { type: 'container', name: 'shop' } } }, MAIN)
    },
  ],
  [
    'a key: the file of the job again, untracked, of another commit, complete',
    async () => {
      const fields = { ...MAIN, tracked: false, commitSha: '1111111', complete: true }
      await upload(key, held.file, fields)
      await upload(key, held.file, { ...fields, commitSha: '2222222' })
    },
  ],
  [
    'a key that has sent the held file itself confirms it',
    async () => {
      await upload(key, held.file, MAIN)
      await key('POST', `/v1/security/uploads/${held.id}/confirm`)
      await readReportFile(api.services, { org_id: caller.orgId, upload_id: held.id })
    },
  ],
  [
    'a Developer who has sent the held file confirms it',
    async () => {
      await upload(byMember(developer), held.file, { gitRef: 'refs/heads/main' })
      await byMember(developer)('POST', `/v1/security/uploads/${held.id}/confirm`)
      await readReportFile(api.services, { org_id: caller.orgId, upload_id: held.id })
    },
  ],
  ['a stranger confirms the held file', () => stranger('POST', `/v1/security/uploads/${held.id}/confirm`)],
  ['a key ends the streams', () => endOf('verified', key)],
  ['a Developer ends the streams', () => endOf('verified', byMember(developer))],
  [
    'a weaker stream takes the stronger one over',
    async () => {
      await upload(key, other([]), MAIN)
      const [weaker] = await streamsOf('uploaded')
      for (const { id } of await streamsOf('verified'))
        for (const send of [key, byMember(security)]) {
          const answer = await send('POST', `/v1/security/streams/${weaker?.id}/take-over`, { from: id })
          assert.ok([403, 409].includes(answer.status), answer.text)
        }
    },
  ],
  [
    'a stronger stream takes over a weaker one in which the findings are dismissed by the report',
    async () => {
      await upload(key, other(suppressed(found)), MAIN)
      const [weaker] = await streamsOf('uploaded')
      const strong = (await streamsOf('verified')).find(({ tool }) => tool === 'Linter')
      const taken = await byMember(security)('POST', `/v1/security/streams/${strong?.id}/take-over`, {
        from: weaker?.id,
      })
      assert.equal(taken.status, 200, taken.text)
    },
  ],
  ['a stranger: nothing found on main, complete', () => upload(stranger, other([]), { ...MAIN, complete: true })],
  [
    'a stranger: tracked, with the file of the job',
    () => upload(stranger, held.file, { tracked: true, complete: true }),
  ],
  ['a job of another branch: nothing found', () => upload(feature, other([]), { complete: true, tracked: true })],
  ['a job of another branch that names main', () => upload(feature, other([]), { ...MAIN, complete: true })],
  [
    'a job of another branch: all results suppressed',
    () => upload(feature, other(suppressed(found)), { tracked: true }),
  ],
  ['a job of main about another commit', () => upload(byJob(), other([]), { commitSha: '1111111', complete: true })],
  ['a job of main: another tool without results', () => upload(byJob(), other([], 'Eslint'), { complete: true })],
  ['a job of main: another category', () => upload(byJob(), other([]), { category: 'x', complete: true })],
  [
    'a job of main: runs without results, complete',
    () => upload(byJob(), sarifReport([sarifRun(undefined, 'Linter')]), { complete: true }),
  ],
  [
    'a job of main: a failure, complete',
    async () => {
      const invocations = [{ executionSuccessful: false, exitCode: 7 }]
      await upload(byJob(), other([], 'Linter', { invocations }), { complete: true })
    },
  ],
  [
    'a job of main: an empty list of vulnerabilities',
    () => upload(byJob(), { ...critical({ [LODASH]: ID }), vulnerabilities: [] }),
  ],
  ['a Developer: nothing found', () => upload(byMember(developer), other([]), { ...MAIN, complete: true })],
  [
    'a Developer dismisses',
    async () => {
      const issue_ids = (await listFindings(api, caller)).map(({ issue_id }) => issue_id)
      const body = { action: 'dismiss', issue_ids, reason: 'false_positive' }
      assert.equal((await byMember(developer)('POST', '/v1/security/triage', body)).status, 403)
    },
  ],
  ...(
    [
      ['OpenVEX about the package', () => openVex([notAffected(ID, [LODASH])])],
      ['OpenVEX about the repository', () => openVex([notAffected(ID, ['pkg:github/acme/shop'])])],
      [
        'CSAF',
        () =>
          csaf({ P: LODASH }, [
            {
              cve: ID,
              product_status: { known_not_affected: ['P'] },
              threats: [{ category: 'impact', details: 'Not used.', product_ids: ['P'] }],
            },
          ]),
      ],
      ['CycloneDX about the package', () => vexInCycloneDx({ type: 'application', name: 'shop' }, LODASH)],
      ['CycloneDX about the repository', () => vexInCycloneDx(OWN, 'project')],
    ] as [string, () => object][]
  ).flatMap(([format, document]): (typeof ATTACKS)[number][] => [
    [
      `a key, a stranger and a job: ${format}`,
      () => sendAll([key, stranger, byJob(), byMember(developer)], document()),
    ],
    [
      `who may triage sends ${format} for another repository`,
      async () => {
        const made = await api.caller({
          orgId: caller.orgId,
          scopes: ['write:security-findings', 'write:triage', 'read:security'],
          repositories: ['github.com/acme/other'],
        })
        const elsewhere: Send = (method, path, body) => api.request(method, path, { key: made.key, body })
        await upload(elsewhere, document(), { repository: 'acme/other', provider: undefined, repositoryId: undefined })
        await upload(elsewhere, document(), MAIN)
      },
    ],
  ]),
  [
    'CycloneDX with an analysis of its own, with and without components',
    async () => {
      const [vulnerability] = critical({ [LODASH]: ID }).vulnerabilities
      const analysed = { ...vulnerability, analysis: { state: 'false_positive' } }
      await sendAll([key, stranger], { ...critical({ [LODASH]: ID }), vulnerabilities: [analysed] })
      await sendAll([key, stranger], { ...critical({}), vulnerabilities: [analysed] })
    },
  ],
  [
    'a finding of a key is dismissed for the vulnerability everywhere, then the job reports it in another version',
    async () => {
      await upload(key, critical({ 'pkg:npm/lodash@4.17.19': 'CVE-2020-8203' }), MAIN)
      const [finding] = (await listFindings(api, caller)).filter(({ rule_id }) => rule_id === 'CVE-2020-8203')
      const body = { action: 'dismiss', finding_ids: [finding.id], reason: 'false_positive', scope: 'vulnerability' }
      assert.equal((await byMember(security)('POST', '/v1/security/triage', body)).status, 201)
      await upload(byJob(), critical({ [LODASH]: ID, 'pkg:npm/lodash@4.17.18': 'CVE-2020-8203' }))
      const late = (await listFindings(api, caller)).find(({ package_version }) => package_version === '4.17.18')
      guarded = (await listFindings(api, caller))
        .filter(
          ({ id, rule_id, package_version }) => guarded.includes(id) && rule_id !== ID && package_version !== '4.17.19',
        )
        .map(({ id }) => id)
      assert.equal(late.state, 'open')
      guarded.push(late.id)
    },
  ],
  [
    'a stale stream of the job is not ended by age',
    async () => {
      api.clock.advance(40 * 24 * 60 * 60_000)
      await upload(key, other([]), MAIN)
    },
  ],
]

async function sendAll(senders: Send[], document: object): Promise<void> {
  for (const [at, send] of senders.entries()) await upload(send, { ...document, number: at }, at === 2 ? {} : MAIN)
}

for (const [what, attack] of ATTACKS)
  test(`nothing is silenced by ${what}`, async () => {
    await attack()
    const findings = await listFindings(api, caller)
    for (const id of guarded) {
      const { state, severity, rule_id } = findings.find((finding) => finding.id === id)
      assert.deepEqual([rule_id, state, severity], [rule_id, 'open', 'critical'])
    }
    assert.equal(await decide(), 'pending')
  })

test('the job itself closes what it held, once somebody with Triage confirms it', async () => {
  const confirmed = await byMember(security)('POST', `/v1/security/uploads/${held.id}/confirm`)
  assert.equal(confirmed.status, 200, confirmed.text)
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: held.id })
  await upload(byJob(), critical({ 'pkg:npm/lodash@4.17.21': 'CVE-2020-0000' }))
  const states = (await listFindings(api, caller)).filter(({ id }) => guarded.includes(id)).map(({ state }) => state)
  assert.deepEqual(states, ['fixed', 'fixed', 'fixed'])
})
