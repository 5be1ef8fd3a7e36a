import { hash } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import { getCodeHost, type Provider } from '../../codehosts/catalogue.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { getDefaultHost } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { type RepositoryQuery, selectRepositories } from '../repositories/select-repository.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { listCanonicalIds } from '../writing/grouping.store.ts'
import { evaluateFindings } from './apply-statements.ts'
import { type ExportedFinding, listExported, upsertVersion } from './export.store.ts'
import { computeUuid, type ExportedDocument, toStatements } from './exported-document.ts'
import type { OwnRepository } from './statement-match.ts'
import { findOwnRepository, listDocuments } from './verdict.store.ts'
import type { Verdict } from './verdict.ts'

/**
 * What people and VEX documents have stated about the findings of a repository. Throws 404
 * `not_found` if the organization has no such repository, 400 `invalid_request` if the query names
 * none, and 400 as `selectRepositories` does.
 */
export async function exportVex(
  { sql, clock }: Services,
  { org_id, organization }: Actor,
  query: RepositoryQuery,
): Promise<ExportedDocument> {
  if (query.repository === undefined && query.repository_id === undefined) {
    throw createInvalidFieldError('/query/repository', 'is required')
  }
  const { repositoryNos } = await selectRepositories(sql, org_id, query)
  const [repository_no] = repositoryNos ?? []
  if (!repositoryNos || repository_no === undefined) throw createNotFoundError('repository')
  const findings = await listExported(sql, org_id, repositoryNos)
  const verdicts = await judge(sql, org_id, repositoryNos, findings)
  const aliases = await listCanonicalIds(sql, [
    ...new Set(findings.flatMap(({ vuln_ids }) => vuln_ids.map(removeDistribution))),
  ])
  const statements = toStatements(findings, verdicts, (id) => aliases.get(id) ?? id)
  const own = await findOwnRepository(sql, { org_id, repository_no })
  const contents = {
    author: organization.name,
    repository: { name: own.name, identifier: getIdentifier(own) },
    statements,
  }
  const contentHash = hash('sha256', JSON.stringify(contents), 'buffer')
  const stored = await upsertVersion(sql, { org_id, repository_no }, contentHash, clock.now())
  return {
    id: computeUuid(org_id, String(repository_no)),
    version: stored.version,
    created_at: stored.created_at.toISOString(),
    changed_at: stored.changed_at.toISOString(),
    ...contents,
  }
}

async function judge(
  sql: Services['sql'],
  orgId: string,
  repositoryNos: readonly number[],
  findings: readonly ExportedFinding[],
): Promise<ReadonlyMap<string, Verdict>> {
  const verdicts = new Map<string, Verdict>()
  for (const repository_no of repositoryNos) {
    const scope = { org_id: orgId, repository_no }
    const documents = await listDocuments(sql, scope)
    const judged = findings.filter(
      (finding) => finding.repository_no === repository_no && finding.source !== 'shiplock',
    )
    if (documents.length === 0 || judged.length === 0) continue
    const evaluated = await evaluateFindings(sql, scope, documents, judged)
    for (const [id, verdict] of evaluated.verdicts) verdicts.set(id, verdict)
  }
  return verdicts
}

/** The package URL of the repository, or its URL on a host that package URLs do not name. */
function getIdentifier({ name, provider, host }: OwnRepository): string {
  const path = name.split('/').map(encodeURIComponent).join('/')
  if (provider === null) return `pkg:generic/${path}`
  const usual = getDefaultHost(provider as Provider)
  const type = getCodeHost(provider as Provider).packageUrlType
  if (type === null || (host !== null && host !== usual)) return `https://${host ?? usual}/${path}`
  return `pkg:${type}/${path}`
}
