import type { Actor } from '../../access/actor.ts'
import { sbomTooLarge } from '../../errors/security.ts'
import { parsePackage } from '../../inventory/components/component-identity.ts'
import { listPresentComponents } from '../../inventory/sboms/present-component.store.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type RepositoryQuery, selectRepositories } from '../repositories/select-repository.ts'
import { computeUuid } from '../vex/exported-document.ts'
import { findOwnRepository } from '../vex/verdict.store.ts'
import { listVulnerabilities } from './exported-finding.store.ts'
import { collectDependencies, type ExportedComponent, type ExportedSbom, mergeComponents } from './exported-sbom.ts'

/** Rows of components that a document is made of. */
const ROWS_MAX = 200_000
const VULNERABILITIES_MAX = 50_000

type SbomQuery = RepositoryQuery & { category?: string; vulnerabilities?: boolean }

/**
 * What the newest bills of materials about a repository contain, merged. The same contents give the
 * same bytes. Throws 404 `not_found` if the organization has no such repository, 400
 * `invalid_request` if the query names none, 409 `sbom_too_large`, and 400 as `selectRepositories`
 * does.
 */
export async function exportSbom({ reads }: Services, { org_id }: Actor, query: SbomQuery): Promise<ExportedSbom> {
  if (query.repository === undefined && query.repository_id === undefined)
    throw createInvalidFieldError('/query/repository', 'is required')
  return reads.read(async (sql) => {
    const { repositoryNos } = await selectRepositories(sql, org_id, query)
    const [repository_no] = repositoryNos ?? []
    if (!repositoryNos || repository_no === undefined) throw createNotFoundError('repository')
    const { name } = await findOwnRepository(sql, { org_id, repository_no })
    const selection = { repositoryNos, category: query.category, limit: ROWS_MAX + 1 }
    const rows = await listPresentComponents(sql, org_id, selection)
    if (rows.length > ROWS_MAX) throw sbomTooLarge(ROWS_MAX)
    const components = mergeComponents(rows)
    const found = query.vulnerabilities
      ? await listVulnerabilities(sql, org_id, { repositoryNos, limit: VULNERABILITIES_MAX })
      : null
    const contents = {
      repository: name,
      created_at: new Date(Math.max(0, ...rows.map(({ reported_at }) => reported_at.getTime()))).toISOString(),
      components,
      vulnerabilities: found && joinVulnerabilities(found, components),
    }
    const dependencies = collectDependencies(rows, components)
    const id = computeUuid(org_id, JSON.stringify(contents), JSON.stringify([...dependencies]))
    return { id, ...contents, dependencies }
  })
}

/** One entry for each vulnerability, with the components that have it. */
function joinVulnerabilities(
  found: Awaited<ReturnType<typeof listVulnerabilities>>,
  components: readonly ExportedComponent[],
): NonNullable<ExportedSbom['vulnerabilities']> {
  const known = new Set(components.map(({ ref }) => ref))
  return [...Map.groupBy(found, ({ id }) => id).values()].flatMap((own) => {
    // Scanners write package URLs in other spellings than documents do.
    const refs = [
      ...new Set(own.map(({ purl }) => parsePackage(purl)?.purl ?? purl).filter((ref) => known.has(ref))),
    ].sort()
    const { purl: _, ...first } = own[0] as (typeof own)[number]
    return refs.length === 0 ? [] : [{ ...first, refs }]
  })
}
