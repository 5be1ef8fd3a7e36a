import { createRun } from '../../../server/test/support/ci-runs.ts'
import { apply } from '../../../server/test/support/policies.ts'
import type { TestConsole } from './console.ts'

export const TESTED = `# Releases need tests.
name: tests-passed
mode: monitor
bindings:
  environments: [production]
rules:
  - rule: ended
    name: The run succeeded
    expression: run.status == "success"
    trust: any
    reason: The run has not succeeded.
`

type Status = 'passing' | 'failing' | 'warning' | 'not_evaluated'

/** Two policies, four repositories with results of them, and runs to try a policy on. */
export async function seedCompliance({ api, caller }: TestConsole): Promise<{ tested: string; scanned: string }> {
  const tested = await apply(api, caller, TESTED)
  const scanned = await apply(api, caller, TESTED.replace('tests-passed', 'scan-fresh').replace('monitor', 'enforce'))
  const results: [policy: typeof tested, repository: string, status: Status][] = [
    [tested, 'github.com/acme/api', 'failing'],
    [tested, 'github.com/acme/web', 'passing'],
    [tested, 'github.com/acme/cli', 'not_evaluated'],
    [scanned, 'github.com/acme/api', 'warning'],
    [scanned, 'github.com/acme/web', 'passing'],
    [scanned, 'github.com/acme/site', 'failing'],
  ]
  for (const [policy, repository, status] of results) await insertResult({ api, caller }, policy, repository, status)
  for (const status of ['success', 'failure', 'success']) await createEndedRun({ api, caller }, status)
  return { tested: tested.id, scanned: scanned.id }
}

type Owner = Pick<TestConsole, 'api' | 'caller'>

async function insertResult(
  { api, caller }: Owner,
  policy: { id: string; name: string },
  repository: string,
  status: Status,
) {
  const { sql, clock } = api.services
  const now = clock.now()
  const rule = { rule: 'ended', result: status === 'passing' ? 'pass' : 'fail', evidence: 'run.status = "failure"' }
  const evaluated = status !== 'not_evaluated'
  const row = {
    ...{ org_id: caller.orgId, id: `${policy.name}-${repository.split('/').at(-1)}`, policy_id: policy.id },
    ...{ policy_name: policy.name, repository, status, details: sql.json(evaluated ? [rule] : []) },
    ...{ evaluated_at: evaluated ? now : null, created_at: now, updated_at: now },
  }
  await sql`insert into compliance_results ${sql(row as never)}`
}

async function createEndedRun({ api, caller }: Owner, status: string) {
  api.clock.advance(1000)
  const { id } = await createRun(api, caller)
  await api.request('PATCH', `/v1/ci/runs/${id}`, { key: caller.key, body: { status } })
}
