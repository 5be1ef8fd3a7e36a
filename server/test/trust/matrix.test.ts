// No second chance: who may state, replace, close, silence and approve.
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { type Answer, startTestApi, type TestApi } from '../support/api.ts'
import { TESTS } from '../support/ci-reports.ts'
import { configureGate } from '../support/gates.ts'
import type { Json } from '../support/json.ts'
import { sarif, scoredResult } from '../support/sarif.ts'
import { ownRun } from '../support/token-caller.ts'
import { SENDERS, type Sender, type Shop, TrustWorld } from '../support/trust-world.ts'
import { notAffected, openVex, vulnerable } from '../support/vex.ts'

const PAGE = new URL('../../../docs/trust-matrix.md', import.meta.url)
const LODASH = 'pkg:npm/lodash@4.17.20'
const CVE = 'CVE-2021-23337'

const NAMES: Record<Sender, string> = {
  job: 'Its own job',
  other_ref: 'Job of another ref',
  stranger: 'Job with code of strangers',
  foreign: 'Job of another repository',
  scans: 'Central pipeline, `as: uploaded`',
  releases: 'Central pipeline, `as: verified`',
  key: 'API key',
  developer: 'Developer',
  security: 'Security',
}

const INTRODUCTION = `# Who may do what to what a job has stated

A job of the repository \`acme/shop\` has registered a run, reported failing tests, uploaded a security report about \`main\`,
and opened a gate, with its OIDC token: all of it is \`verified\`. The rows say what others can do about that. The API key
has the scopes \`write:ci\` and \`write:security-findings\`; people have these roles in the organization. The central
pipelines are jobs of other repositories whose trusts have \`speaks_for: [acme/*]\`. This page is generated: a test
makes each of these requests, and compares the page with what happens
(\`SHIPLOCK_WRITE_PAGES=1 npm test trust/matrix\` writes it).

**Stands beside** means that another object is made, and what the job has stated stays as it is. A dash means that there is
no such request for the caller.`

type Row = { does: string; play(world: TrustWorld, shop: Shop, by: Sender): Promise<string> }

const isPerson = (by: Sender) => by === 'developer' || by === 'security'

/** The error of an answer, or what its success means. */
function tell({ status, body, text }: Answer, success: (data: Json) => string): string {
  if (status < 300) return success(body.data)
  // Errors of the contract's security calls have a message only (contract, "Errors").
  return `${status} \`${body?.error?.code ?? body?.message ?? assert.fail(text)}\``
}

const FAILED = { ...TESTS, data: { ...TESTS.data, failed: 2 } }
const toReport = (rules: string[], mark: number) =>
  sarif(
    rules.map((rule) => scoredResult(rule, 9.8)),
    'Linter',
    { marks: [mark] },
  )

function isBeside({ stands_beside }: Json): string {
  return stands_beside === null ? 'replaced' : 'stands beside'
}

async function report(world: TrustWorld, shop: Shop, by: Sender, attestations: object[]): Promise<Answer> {
  const body = { job: { name: 'test' }, attestations }
  return world.send(shop, by, 'POST', `/v1/ci/runs/${shop.runId}/reports`, body)
}

async function stateOf(world: TrustWorld, shop: Shop): Promise<string> {
  const [finding] = await world.findingsOf(shop, 'verified')
  return finding?.state ?? assert.fail('there is no finding')
}

async function streamOf({ api, caller }: TrustWorld, { repository }: Shop): Promise<Json> {
  const { body } = await api.request('GET', `/v1/security/streams?repository=${repository}`, { key: caller.key })
  return (body.data as Json[]).find(({ trust }) => trust === 'verified') ?? assert.fail('there is no stream')
}

async function openGate(world: TrustWorld, shop: Shop): Promise<string> {
  const opened = await world.send(shop, 'job', 'POST', '/v1/ci/gates', gateOf(shop))
  return opened.body.data?.deployment_id ?? assert.fail(opened.text)
}

const gateOf = ({ runId }: Shop) => ({ run_id: runId, environment: 'production' })

const ROWS: Row[] = [
  {
    does: 'Register a run with the number of its run',
    async play(world, { claims, repository, runId }, by) {
      if (isPerson(by)) return '—'
      const run = ownRun(claims, { repository: `github.com/${repository}`, commit_sha: claims.sha })
      const answer = await world.send({ claims, repository, runId }, by, 'POST', '/v1/ci/runs', run)
      return tell(answer, ({ id }) => (id === runId ? 'is the same run' : 'stands beside'))
    },
  },
  {
    does: 'Change the status of its run',
    async play(world, shop, by) {
      if (isPerson(by)) return '—'
      const answer = await world.send(shop, by, 'PATCH', `/v1/ci/runs/${shop.runId}`, { status: 'failure' })
      return tell(answer, () => 'changed')
    },
  },
  {
    does: 'Report passing tests with the name of its job',
    async play(world, shop, by) {
      if (isPerson(by)) return '—'
      await report(world, shop, 'job', [FAILED])
      const answer = await report(world, shop, by, [TESTS])
      return tell(answer, isBeside)
    },
  },
  {
    does: 'Add to its report',
    async play(world, shop, by) {
      if (isPerson(by)) return '—'
      const { report_id } = (await report(world, shop, 'job', [FAILED])).body.data
      const path = `/v1/ci/runs/${shop.runId}/reports/${report_id}/attestations`
      return tell(await world.send(shop, by, 'POST', path, { attestations: [TESTS] }), () => 'added')
    },
  },
  {
    does: 'Open a gate for its run',
    async play(world, shop, by) {
      if (isPerson(by)) return '—'
      return tell(await world.send(shop, by, 'POST', '/v1/ci/gates', gateOf(shop)), () => 'opened')
    },
  },
  {
    does: 'Open its gate again',
    async play(world, shop, by) {
      if (isPerson(by)) return '—'
      const { gate_id } = (await world.send(shop, 'job', 'POST', '/v1/ci/gates', gateOf(shop))).body.data
      const answer = await world.send(shop, by, 'POST', '/v1/ci/gates', gateOf(shop))
      return tell(answer, (data) => (data.gate_id === gate_id ? 'is the same gate' : 'stands beside'))
    },
  },
  {
    does: 'Upload a report of the same tool without its finding',
    async play(world, shop, by) {
      await world.upload(shop, 'job', toReport(['a'], 0))
      const answer = await world.upload(shop, by, toReport([], 1), { complete: true })
      const state = await stateOf(world, shop)
      return tell(answer, () => (state === 'open' ? 'stands beside' : 'closes the finding'))
    },
  },
  {
    does: 'Upload a VEX document that says `not_affected`',
    async play(world, shop, by) {
      await world.upload(shop, 'job', vulnerable({ [LODASH]: CVE }))
      const answer = await world.upload(shop, by, openVex([notAffected(CVE, [LODASH])]))
      const state = await stateOf(world, shop)
      return tell(answer, () => (state === 'open' ? 'is a proposal' : 'dismisses the finding'))
    },
  },
  {
    does: 'Confirm a VEX document of an API key',
    async play(world, shop, by) {
      if (by === 'key') return '—'
      await world.upload(shop, 'job', vulnerable({ [LODASH]: CVE }))
      const proposed = await world.upload(shop, 'key', openVex([notAffected(CVE, [LODASH])]))
      const path = `/v1/security/uploads/${proposed.body.data.upload.id}/confirm`
      return tell(await world.send(shop, by, 'POST', path), () => 'dismisses the finding')
    },
  },
  {
    does: 'Dismiss its finding',
    async play(world, shop, by) {
      if (!isPerson(by)) return '—'
      await world.upload(shop, 'job', toReport(['a'], 0))
      const [finding] = await world.findingsOf(shop, 'verified')
      const body = { action: 'dismiss', finding_ids: [finding?.id], reason: 'wont_fix' }
      return tell(await world.send(shop, by, 'POST', '/v1/security/triage', body), () => 'dismissed')
    },
  },
  {
    does: 'End its stream of findings',
    async play(world, shop, by) {
      await world.upload(shop, 'job', toReport(['a'], 0))
      const { id } = await streamOf(world, shop)
      const path = `/v1/security/streams/${id}/end`
      return tell(await world.send(shop, by, 'POST', path, { reason: 'Moved.' }), () => 'closes the finding')
    },
  },
  {
    does: 'Say that its waiting deployment is cancelled',
    async play(world, shop, by) {
      const id = await openGate(world, shop)
      return tell(
        await world.send(shop, by, 'PATCH', `/v1/deployments/${id}`, { status: 'cancelled' }),
        () => 'cancelled',
      )
    },
  },
  {
    does: 'Approve the deployment',
    async play(world, shop, by) {
      const id = await openGate(world, shop)
      const answer = await world.send(shop, by, 'POST', `/v1/deployments/${id}/approve`, {
        reason: 'It was announced.',
      })
      return tell(answer, () => 'approved')
    },
  },
]

let world: TrustWorld
let api: TestApi

before(async () => {
  api = await startTestApi()
  world = await TrustWorld.start(api)
  await configureGate(api, world.caller, { allowRunCreator: false })
})
after(async () => {
  await world?.close()
  await api?.close()
})

test('docs/trust-matrix.md says what happens', async () => {
  const rows: string[][] = []
  for (const { does, play } of ROWS) {
    const cells: string[] = []
    for (const by of SENDERS) {
      api.clock.advance(1000)
      cells.push(await play(world, await world.openShop(), by))
    }
    rows.push([does, ...cells])
  }
  const head = ['', ...SENDERS.map((by) => NAMES[by])]
  const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`.replace(/ {2,}/g, ' '))
  const page = `${INTRODUCTION}\n\n${table.join('\n')}\n`
  if (process.env.SHIPLOCK_WRITE_PAGES === '1') await writeFile(PAGE, page)
  assert.equal(await readFile(PAGE, 'utf8'), page)
})
