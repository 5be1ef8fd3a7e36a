import type { FindingSelection } from '../../src/security/findings/finding-page.store.ts'
import type { Answer, Caller, TestApi } from './api.ts'

/** Every finding of the organization. */
export const ALL_FINDINGS: FindingSelection = {
  repositoryNos: null,
  provider: null,
  state: null,
  severity: null,
  kind: null,
  scanner: null,
  category: null,
  gitRef: null,
  path: null,
  issueId: null,
  firstSeenSince: null,
}

/** One page of findings, at most 1,000, newest first. */
export async function listFindings(
  api: TestApi,
  { key }: Caller,
  query: Record<string, string> = {},
): Promise<Answer['body'][]> {
  const parameters = new URLSearchParams({ limit: '1000', ...query })
  const { status, body, text } = await api.request('GET', `/v1/security/findings?${parameters}`, { key })
  if (status !== 200) throw new Error(`listFindings answered ${status}: ${text}`)
  return body.data
}

/** How many findings there are of each state. */
export async function countStates(api: TestApi, caller: Caller): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state } of await listFindings(api, caller)) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** The state of each finding by its rule, for reports that name a rule once. */
export async function statesByRule(api: TestApi, caller: Caller, query: Record<string, string> = {}) {
  const findings = await listFindings(api, caller, query)
  return Object.fromEntries(findings.map(({ rule_id, state }) => [rule_id, state]).sort())
}

/**
 * The organization's finding rows with the transaction that wrote each: an update, even to the same
 * values, changes it.
 */
export async function rowVersions({ services }: TestApi, { orgId }: Caller): Promise<Record<string, string>[]> {
  const rows = await services.sql<{ id: string; xmin: string }[]>`
    select id, xmin::text
    from findings
    where org_id = ${orgId}
    order by id`
  return rows.map(({ id, xmin }) => ({ id, xmin }))
}
