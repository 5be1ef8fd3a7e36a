import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostSource } from '../../src/codehosts/host-event.ts'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import type { Caller, TestApi } from './api.ts'
import { applyEvents, hostDeployment, hostStatus } from './host-deployments.ts'
import { hostRepository } from './host-objects.ts'
import { uploadReport } from './reports.ts'

/** Imports OSV records. */
export async function importRecords(api: TestApi, ...records: object[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-exposure-'))
  const paths = records.map((_, at) => join(directory, `${at}.json`))
  for (const [at, record] of records.entries()) writeFileSync(paths[at] as string, JSON.stringify(record))
  await importOsv(api.services, paths, () => {})
  rmSync(directory, { recursive: true, force: true })
}

/** A component by its package URL, with further members. */
export type Part = string | ({ purl: string } & Record<string, unknown>)

/** A CycloneDX document. The same parts give the same bytes. */
export function cycloneDx(parts: readonly Part[], fields: Record<string, unknown> = {}): string {
  const components = parts.map((part) => {
    const stated = typeof part === 'string' ? { purl: part } : part
    return { 'bom-ref': stated.purl, type: 'library', name: 'as the purl says', ...stated }
  })
  return JSON.stringify({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { 'bom-ref': 'root', type: 'application', name: 'app' }, tools: [{ name: 'syft' }] },
    components,
    ...fields,
  })
}

/** Sends a document about a commit of `acme/shop`. */
export function sendSbom(api: TestApi, caller: Caller, parts: readonly Part[], fields: Record<string, unknown> = {}) {
  return uploadReport(api, caller, cycloneDx(parts), { repository: 'acme/shop', gitRef: 'main', ...fields })
}

type HostDeploy = { id: string; commit: string; environment?: string; repository?: ReturnType<typeof hostRepository> }

/** A deployment of a connected code host that begins and succeeds now. Returns its id. */
export async function deployOnHost(api: TestApi, source: HostSource, deploy: HostDeploy): Promise<string> {
  const { id, commit, environment = 'production', repository = hostRepository() } = deploy
  const now = api.clock.now()
  const deployment = hostDeployment({
    ...{ id, environment, repository, run: null, commit_sha: commit, created_at: now, updated_at: now },
  })
  const data = hostStatus('success', now, deployment, { id: `${id}1` })
  await applyEvents(api, source, [{ kind: 'deployment_status', data }])
  return `gh_deployment_${id}`
}
