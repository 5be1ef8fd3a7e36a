import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { scan, sendReport, uploadArtifact } from '../../server/test/support/ci-reports.ts'
import { createRun, patchRun } from '../../server/test/support/ci-runs.ts'
import { listFindings } from '../../server/test/support/findings.ts'
import { answer, configureGate, openGate } from '../../server/test/support/gates.ts'
import { applyAlerts, codeAlert, connect } from '../../server/test/support/host-alerts.ts'
import type { Person } from '../../server/test/support/people.ts'
import { requestAs } from '../../server/test/support/people.ts'
import { apply } from '../../server/test/support/policies.ts'
import { drainQueue } from '../../server/test/support/queue.ts'
import { recordChange } from '../../server/test/support/recorded-changes.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import { startTestConsole, type TestConsole } from './support/console.ts'

const COMMIT = 'ab'.repeat(20)
const REPOSITORY = 'acme/shop'

let shown: TestConsole
let page: Page
/** The pages of the story, by what they show. */
let at: Record<string, string>

before(async () => {
  shown = await startTestConsole()
  const { api, caller } = shown
  const ada: Person = await shown.person()
  page = await shown.open(ada)
  const source = await connect(api, caller)
  const gate = await configureGate(api, caller, { name: 'Production', environment: 'production' })
  await apply(api, caller, POLICY)
  const record = await recordChange(api.services, caller.orgId, {
    repository: { provider: 'github', host: 'github.com', id: '1001', full_name: REPOSITORY },
  })
  const commit_sha = record.commits.merge
  const run = await createRun(api, caller, { repository: `github.com/${REPOSITORY}`, ref: 'main', commit_sha })
  const report = await sendReport(api, caller, run.id, {
    job: { name: 'scan' },
    attestations: [scan({ artifact: FILE })],
  })
  await uploadArtifact(api, caller, report as never, FILE, JSON.stringify(sarif([sarifResult('sql-injection')])))
  await drainQueue(api)
  const [finding] = await listFindings(api, caller)
  await applyAlerts(api, source, codeAlert({ commit_sha: COMMIT }))
  const alerts = await requestAs(api, ada, 'GET', '/security/alerts')
  const [alert] = alerts.body.data
  const { deployment_id } = await openGate(api, caller, { run_id: run.id, environment: 'production' })
  await answer(api, caller, deployment_id, 'approve')
  api.clock.advance(60_000)
  await patchRun(api, caller, run.id, { status: 'success' })
  await drainQueue(api)
  const { body: uploads } = await requestAs(api, ada, 'GET', `/security/uploads?run_id=${run.id}`)
  const { body: policies } = await requestAs(api, ada, 'GET', '/policies')
  const { body: results } = await requestAs(api, ada, 'GET', '/compliance/results')
  assert.ok(finding && alert && uploads.data[0] && policies.data[0] && results.data[0])
  const org = `/orgs/${caller.slug}`
  const [result] = results.data
  at = {
    run: `${org}/runs/${run.id}`,
    finding: `${org}/security/findings/${finding.id}`,
    issue: `${org}/security/issues/${finding.issue_id}`,
    upload: `${org}/security/uploads/${uploads.data[0].id}`,
    alert: `${org}/security/alerts/${alert.id}`,
    'finding of the alert': `${org}/security/findings/${alert.finding_id}`,
    change: `${org}/provenance/changes/${record.id}`,
    deployment: `${org}/deployments/${deployment_id}`,
    statement: `${org}/provenance/lineage/${deployment_id}`,
    gate: `${org}/settings/gates/${gate.id}`,
    policy: `${org}/compliance/policies/${policies.data[0].id}`,
    result: `${org}/compliance/results?policy=${result.policy_id}&repository=${encodeURIComponent(result.repository)}`,
    repository: `${org}/repository?name=${encodeURIComponent(REPOSITORY)}`,
    environment: `${org}/deployments?view=list&environment=production`,
    members: `${org}/settings/members`,
  }
})
after(() => shown?.close())

const FILE = 'sast.sarif'
const POLICY = `
name: Known environment
mode: enforce
bindings: { repositories: ["*"], environments: [production] }
rules:
  - rule: known
    name: The environment is known
    expression: run.status != ""`

/**
 * What leads where: the page, the link on it, and the page that it leads to. A list in between is
 * named by the link that leaves it.
 */
const LINKS: [from: string, links: (string | RegExp)[], to: string][] = [
  ['run', ['Report: 1 finding'], 'upload'],
  ['run', ['acme/shop'], 'repository'],
  ['run', ['Changes with this commit', /Prices in/], 'change'],
  ['run', ['Of the branch', /sql-injection/], 'finding'],
  ['run', ['production'], 'deployment'],
  ['run', ['Lineage and statements of production'], 'statement'],
  ['upload', ['Open the run'], 'run'],
  ['upload', ['acme/shop'], 'repository'],
  ['upload', ['Findings of this branch', /sql-injection/], 'finding'],
  ['finding', ['Open the upload'], 'upload'],
  ['finding', ['Open issue'], 'issue'],
  ['finding', ['acme/shop'], 'repository'],
  ['issue', [/^src\//], 'finding'],
  ['issue', [/newest report of/], 'upload'],
  ['issue', ['Open the run'], 'run'],
  ['issue', ['Deployments of this commit', /to production/], 'deployment'],
  ['issue', ['acme/shop'], 'repository'],
  ['alert', ['Open finding'], 'finding of the alert'],
  ['alert', ['acme/shop'], 'repository'],
  ['change', ['Deployments of this commit', /to production/], 'deployment'],
  ['change', ['acme/shop'], 'repository'],
  ['deployment', ['Open the run'], 'run'],
  ['deployment', ['Production'], 'gate'],
  ['deployment', ['Known environment'], 'policy'],
  ['deployment', ['Changes with this commit', /Prices in/], 'change'],
  ['deployment', ['Lineage and statements'], 'statement'],
  ['deployment', ['acme/shop'], 'repository'],
  ['deployment', ['production'], 'environment'],
  ['statement', ['Open deployment'], 'deployment'],
  ['statement', [/^[0-9a-f]{7}$/, /Prices in/], 'change'],
  ['statement', [/^Production/], 'gate'],
  ['gate', ['Deployments to production', /to production/], 'deployment'],
  ['result', ['Open policy'], 'policy'],
  ['result', [/acme\/shop$/], 'repository'],
  ['result', ['Runs of the repository', /build/], 'run'],
  ['policy', ['Results', /acme\/shop/], 'result'],
  ['repository', [/Prices in/], 'change'],
  ['repository', ['production'], 'deployment'],
  ['repository', [FILE], 'upload'],
  ['repository', ['build'], 'run'],
  ['environment', [/to production/], 'deployment'],
]

for (const [from, links, to] of LINKS)
  test(`${from} leads to ${to} by ${links.join(', then ')}`, async () => {
    await page.goto(at[from] as string)
    for (const name of links) {
      const isExact = typeof name === 'string'
      const target = page.getByRole('main')
      await target
        .getByRole('link', { name, exact: isExact })
        .or(target.getByRole('tab', { name, exact: isExact }))
        .first()
        .click()
    }
    await page.waitForURL((url) => isAt(url, to))
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Not found' }).waitFor({ state: 'detached' })
  })

/** Whether the address is that of the page. It may name more than the page needs. */
function isAt(url: URL, name: string): boolean {
  const wanted = new URL(at[name] as string, url)
  return (
    url.pathname === wanted.pathname &&
    [...wanted.searchParams].every(([key, value]) => url.searchParams.get(key) === value)
  )
}
