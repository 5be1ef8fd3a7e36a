import type { Sql } from '../../src/platform/db/sql.ts'
import type { Caller, TestApi } from './api.ts'
import { pushedRecord } from './change-records.ts'
import { sendReport, uploadArtifact } from './ci-reports.ts'
import { createRun } from './ci-runs.ts'
import { configureGate } from './gates.ts'
import { insertConnection } from './host-objects.ts'
import { createTrust } from './oidc-issuer.ts'
import { apply } from './policies.ts'
import { uploadReport } from './reports.ts'
import { storeChange } from './stored-changes.ts'

const PURL = 'pkg:npm/furnished@1.0.0'
/** A bill of materials with a vulnerability: it has components, a finding and an issue. */
export const SBOM = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  metadata: { tools: [{ name: 'syft' }] },
  components: [{ type: 'library', name: 'furnished', version: '1.0.0', purl: PURL, 'bom-ref': PURL }],
  vulnerabilities: [{ id: 'CVE-2026-1000', affects: [{ ref: PURL }] }],
}

/**
 * One of everything that a route names, by the path in front of its id; the value is its id. Paths
 * that are not under /v1 are those of the application's API, below the organization.
 */
export async function furnish(api: TestApi, owner: Caller): Promise<Record<string, string>> {
  const run = await createRun(api, owner)
  const report = await sendReport(api, owner, run.id)
  const deployment = await insertDeployment(api, owner)
  const change = await storeChange(api.services, owner, pushedRecord())
  const upload = await uploadReport(api, owner, SBOM)
  return {
    '/v1/ci/runs': run.id,
    '/v1/ci/runs/{run_id}/reports': report.report_id,
    '/v1/runs': run.id,
    '/runs/{id}/reports': report.report_id,
    '/artifacts': await uploadArtifact(
      api,
      owner,
      report as Parameters<typeof uploadArtifact>[2],
      'dist/app.js',
      'bytes',
    ),
    '/v1/security/uploads': upload.id,
    '/v1/sboms': upload.id,
    '/v1/components': (await api.request('GET', '/v1/components', { key: owner.key })).body.data[0].id,
    '/v1/security/streams': await findFirst(api, owner, 'streams'),
    '/v1/security/alerts': await insertAlert(api, owner),
    '/v1/security/findings': await findFirst(api, owner, 'findings'),
    '/v1/security/issues': await findFirst(api, owner, 'issues'),
    '/v1/deployments': deployment,
    '/v1/provenance/changes': change.id,
    '/v1/provenance/deployments': deployment,
    '/v1/compliance/results': await insertResult(api, owner),
    '/v1/changes': change.id,
    '/api-keys': owner.keyId,
    '/oidc-trusts': (await createTrust(api, owner.orgId, { issuer: `https://${owner.slug}.example` })).id,
    '/code-hosts': await insertCodeHost(api, owner),
    '/code-hosts/deliveries': await insertDelivery(api, owner),
    '/gates': (await configureGate(api, owner, { environment: 'furnished' })).id,
    '/policies': await applyTwice(api, owner),
    '/policies/{id}/versions': '1',
  }
}

/** Connects the installation that `insertDelivery` names. */
async function insertCodeHost({ services: { sql } }: TestApi, { orgId, slug }: Caller): Promise<string> {
  const { connection_id } = await insertConnection(sql, orgId)
  await sql`update codehost_connections set installation_id = ${slug} where id = ${connection_id}`
  return connection_id as string
}

async function insertDelivery({ services: { sql, clock } }: TestApi, { slug }: Caller): Promise<string> {
  const now = clock.now()
  await sql`
    insert into codehost_deliveries (
      id, provider, event, installation_id, lane, shard, received_at, status, attempts, applied_at, payload
    )
    values (${`delivery-${slug}`}, 'github', 'push', ${slug}, 'lane', 0, ${now}, 'applied', 1, ${now}, '{}')`
  return `delivery-${slug}`
}

/** A policy without bindings, so that it covers nothing, with two versions. */
async function applyTwice(api: TestApi, owner: Caller): Promise<string> {
  const file = (mode: string) => `name: furnished\nmode: ${mode}\nrules:\n  - { rule: a, expression: "true" }\n`
  await apply(api, owner, file('monitor'))
  return (await apply(api, owner, file('enforce'))).id
}

async function insertAlert({ services: { sql } }: TestApi, { orgId }: Caller): Promise<string> {
  await insertAlertRow(sql, orgId, { id: 'alert_1' })
  return 'alert_1'
}

/** Stores an alert without a finding. */
export async function insertAlertRow(sql: Sql, orgId: string, fields: Record<string, unknown> = {}): Promise<void> {
  const at = '2026-03-04T00:00:00.000Z'
  await sql`
    insert into security_alerts ${sql({
      org_id: orgId,
      id: 'alert',
      provider: 'github',
      repository_id: '1',
      repository: 'acme/api',
      type: 'code_scanning',
      number: 1,
      severity: 'high',
      title: 'An alert',
      references: sql.json([]),
      cwes: [],
      detected_at: at,
      host_updated_at: at,
      host_status: 'open',
      host_facts: 0,
      host_hash: Buffer.alloc(16),
      created_at: at,
      ...fields,
    })}`
}

/** The finding that was uploaded, or its issue. */
async function findFirst(api: TestApi, { key }: Caller, list: 'findings' | 'issues' | 'streams'): Promise<string> {
  return (await api.request('GET', `/v1/security/${list}`, { key })).body.data[0].id
}

export async function insertDeployment({ services: { sql, clock } }: TestApi, { orgId }: Caller): Promise<string> {
  const now = clock.now()
  await sql`
    insert into deployments (
      org_id, id, repository, repository_full_name, environment, status, attempt, commit_sha, gated, created_at,
      updated_at
    )
    values (
      ${orgId}, 'deployment_1', 'api', 'acme/api', 'production', 'success', 1, ${'a'.repeat(40)}, false, ${now}, ${now}
    )`
  return 'deployment_1'
}

async function insertResult({ services: { sql, clock } }: TestApi, { orgId }: Caller): Promise<string> {
  const now = clock.now()
  await sql`
    insert into compliance_results (
      org_id, id, policy_id, policy_name, repository, status, evaluated_at, created_at, updated_at
    )
    values (${orgId}, 'result_1', 'policy_1', 'Policy', 'acme/api', 'passing', ${now}, ${now}, ${now})`
  return 'result_1'
}
