import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import type { Services } from '../../src/services.ts'
import type { Caller, TestApi } from './api.ts'
import { listFindings } from './findings.ts'
import type { Json } from './json.ts'
import { uploadReport } from './reports.ts'

export const LOG4J = 'pkg:maven/org.apache.logging.log4j/log4j-core'

/** A component of a bill of materials by its package URL, with the file that declares it. */
export type Part = { purl: string; path?: string } & Record<string, unknown>

/** A CycloneDX document with these components and no vulnerabilities. */
export function sbomOf(
  parts: readonly (Part | string)[],
  { tool = 'syft', image }: { tool?: string; image?: string } = {},
) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: {
      tools: [{ name: tool }],
      ...(image && { component: { type: 'container', name: image, 'bom-ref': 'image' } }),
    },
    components: parts.map((part, index) => {
      const { path, ...component } = typeof part === 'string' ? { purl: part } : part
      const [, name, version] = /([^/]+)@([^?#]+)/.exec(component.purl) ?? []
      const evidence = path === undefined ? {} : { evidence: { occurrences: [{ location: path }] } }
      return { type: 'library', name, version, 'bom-ref': `${index}`, ...evidence, ...component }
    }),
  }
}

/** Sends documents, the later ones at later times. */
export async function sendSbom(
  api: TestApi,
  caller: Caller,
  parts: readonly (Part | string)[],
  { tool, image, ...options }: { tool?: string; image?: string } & Record<string, unknown> = {},
): Promise<Json> {
  api.clock.advance(1000)
  const file = sbomOf(parts, { ...(tool && { tool }), ...(image && { image }) })
  return uploadReport(api, caller, file, options)
}

let modified = 0

/** An OSV record about versions of a package below one with the fix; newer than all before. */
export function advisory(
  id: string,
  { ecosystem = 'npm', name = 'lodash', fixed = '2.0.0' }: { ecosystem?: string; name?: string; fixed?: string | null },
  fields: Record<string, unknown> = {},
) {
  modified += 1
  const events = [{ introduced: '0' }, ...(fixed === null ? [] : [{ fixed }])]
  return {
    id,
    modified: new Date(Date.UTC(2026, 0, 1) + modified * 1000).toISOString(),
    affected: [{ package: { ecosystem, name }, ranges: [{ type: 'ECOSYSTEM', events }] }],
    ...fields,
  }
}

/** Imports OSV records as `intel import` does. Jobs that follow it wait in the queue. */
export async function importRecords(services: Services, ...records: object[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-advisories-'))
  try {
    const paths = records.map((_, at) => join(directory, `${at}.json`))
    for (const [at, record] of records.entries()) writeFileSync(paths[at] as string, JSON.stringify(record))
    await importOsv(services, paths, () => {})
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Removes all intelligence. */
export async function clearIntel({ sql }: Services): Promise<void> {
  await sql`
    truncate intel_kev, intel_epss, intel_advisories, intel_affected, intel_fixes, intel_package_changes,
      vulnerability_assertions, vulnerability_aliases, vulnerability_alias_changes`
  await sql`update intel_sources set as_of = null, imported_at = null`
}

/** The findings of the inventory, oldest first. */
export async function listMatches(api: TestApi, caller: Caller, query: Record<string, string> = {}): Promise<Json[]> {
  const findings = await listFindings(api, caller, query)
  return findings.filter(({ origin }) => origin === 'inventory').reverse()
}
