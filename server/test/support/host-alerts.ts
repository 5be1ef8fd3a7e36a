import type { HostAlert } from '../../src/codehosts/host-alert.ts'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { applyAlert } from '../../src/security/alerts/read-alert.job.ts'
import type { Caller, TestApi } from './api.ts'
import { hostRepository, insertConnection } from './host-objects.ts'
import { drainQueue } from './queue.ts'

const AT = new Date('2026-03-02T10:00:00.000Z')

/** An open alert of CodeQL about lines 10 to 12 of a file. */
export function codeAlert(fields: Partial<HostAlert> = {}): HostAlert {
  return {
    repository: hostRepository(),
    type: 'code_scanning',
    number: 1,
    status: 'open',
    severity: 'high',
    title: 'Database query built from user-controlled sources',
    description: 'This query depends on a user-provided value.',
    url: 'https://github.com/acme/shop/security/code-scanning/1',
    references: ['https://codeql.github.com/codeql-query-help/js-sql-injection'],
    rule_id: 'js/sql-injection',
    tool_name: 'CodeQL',
    tool_version: '2.20.0',
    cwes: ['CWE-89'],
    package: null,
    cve_id: null,
    ghsa_id: null,
    advisory_url: null,
    cvss: null,
    location: { path: 'src/db.js', start_line: 10, end_line: 12, start_column: 5, end_column: 20 },
    commit_sha: 'a'.repeat(40),
    git_ref: 'refs/heads/main',
    secret: null,
    detected_at: AT,
    fixed_at: null,
    dismissal: null,
    updated_at: AT,
    ...fields,
  }
}

/** An open alert about a vulnerable npm package. */
export function dependencyAlert(fields: Partial<HostAlert> = {}): HostAlert {
  return codeAlert({
    type: 'dependabot',
    title: 'Command Injection in lodash',
    url: 'https://github.com/acme/shop/security/dependabot/1',
    rule_id: null,
    tool_name: 'Dependabot',
    tool_version: null,
    cwes: ['CWE-94'],
    package: {
      ecosystem: 'npm',
      name: 'lodash',
      vulnerable_versions: '< 4.17.21',
      patched_version: '4.17.21',
      manifest_path: 'package-lock.json',
    },
    cve_id: 'CVE-2021-23337',
    ghsa_id: 'GHSA-35jh-r3h4-6jhm',
    advisory_url: 'https://github.com/advisories/GHSA-35jh-r3h4-6jhm',
    cvss: { version: '3.1', score: 7.2, vector: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H' },
    location: null,
    commit_sha: null,
    git_ref: null,
    ...fields,
  })
}

/** An open alert about a leaked token. */
export function secretAlert(value: string | null, fields: Partial<HostAlert> = {}): HostAlert {
  return codeAlert({
    type: 'secret_scanning',
    severity: 'critical',
    title: 'GitHub Personal Access Token',
    url: 'https://github.com/acme/shop/security/secret-scanning/1',
    rule_id: null,
    tool_name: null,
    tool_version: null,
    cwes: [],
    location: { path: 'config/prod.env', start_line: 3, end_line: 3, start_column: 7, end_column: 47 },
    git_ref: null,
    secret: { type: 'github_personal_access_token', display_name: null, value, validity: 'active' },
    ...fields,
  })
}

/** A connection of the caller's organization to the repository of the alerts above. */
export function connect(api: TestApi, { orgId }: Caller): Promise<HostSource> {
  return insertConnection(api.services.sql, orgId)
}

/** Applies alerts, each in its own transaction, and runs the jobs that they cause. */
export async function applyAlerts(api: TestApi, source: HostSource, ...alerts: HostAlert[]): Promise<void> {
  for (const alert of alerts) await api.services.sql.begin((tx) => applyAlert(api.services, tx, source, alert))
  await drainQueue(api)
}

export async function listAlerts(api: TestApi, { key }: Caller, query = '') {
  const { body } = await api.request('GET', `/v1/security/alerts${query}`, { key })
  return body.data
}

/** The id of the newest call of an organization to a code host. */
export async function newestCall({ services }: TestApi, { orgId }: Caller): Promise<string> {
  const [call] = await services.sql<[{ id: string }]>`
    select id
    from codehost_calls
    where org_id = ${orgId}
    order by number desc
    limit 1`
  return call.id
}
