import { OPERATOR } from '../src/audit/audit.store.ts'
import { createGate } from '../src/deployments/gates/configure-gate.ts'
import { systemClock } from '../src/platform/clock.ts'
import { newRun } from './ci-runs.ts'
import type { Setting } from './setting.ts'

/** A configured gate that covers one environment and evaluates `policies`, given by name. */
export async function configureGate(
  { sql, ours }: Pick<Setting, 'sql' | 'ours'>,
  environment: string,
  policies: string[],
): Promise<void> {
  const covers = { environment, repository: null, branch: null }
  const allows = { allow_api_keys: true, allow_run_creator: true, require_linked_accounts: false }
  const asks = { required_approvals: 1, ...allows, policies }
  const name = [environment, ...policies.slice(0, 1)].join(' ')
  await createGate({ sql, clock: systemClock }, ours.orgId, OPERATOR, { name, ...covers, ...asks })
}

export async function createRun(setting: Pick<Setting, 'ours'>): Promise<string> {
  return (await post<{ id: string }>(setting, '/v1/ci/runs', newRun())).id
}

/** What our server answers to a POST. Throws when it is no success. */
export async function post<Data>({ ours }: Pick<Setting, 'ours'>, path: string, body: object): Promise<Data> {
  const headers = { authorization: `Bearer ${ours.key}`, 'content-type': 'application/json' }
  return send(`${ours.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

export async function send<Data>(url: string, request: RequestInit): Promise<Data> {
  const response = await fetch(url, request)
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: Data }).data
}

/** The value that 99 of 100 are not above. */
export function p99(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
}
