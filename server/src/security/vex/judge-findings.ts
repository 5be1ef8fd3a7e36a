import type { Db } from '../../platform/db/sql.ts'
import { listCanonicalIds } from '../issues/writing/grouping.store.ts'
import { getPackageIdentity } from '../vocabulary/package-url.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'
import {
  type AppliedDocument,
  findOwnRepository,
  type JudgedFacts,
  listPackages,
  listStatements,
  type RepositoryScope,
} from './verdict.store.ts'
import { Judge, type Verdict } from './verdict.ts'
import { toComparedIds } from './vulnerability-match.ts'

/** Finds the statement of these documents that decides about each finding, by the finding's id. */
export async function evaluateFindings(
  db: Db,
  scope: RepositoryScope,
  documents: readonly AppliedDocument[],
  candidates: readonly JudgedFacts[],
): Promise<ReadonlyMap<string, Verdict>> {
  const ids = [...new Set(candidates.flatMap(({ vuln_ids }) => vuln_ids.map(removeDistribution)))]
  const aliases = await listCanonicalIds(db, ids)
  const canonicalId = (id: string) => aliases.get(id) ?? id
  const findings = candidates.map((finding) => ({ ...finding, names: toComparedIds(finding.vuln_ids, canonicalId) }))
  const packages = await listPackages(db, scope)
  const identities = new Set(packages.flatMap((purl) => getPackageIdentity({ purl, name: null }) ?? []))
  const judge = new Judge(await findOwnRepository(db, scope), identities, findings)
  const byId = new Map(documents.map((document) => [document.id, document]))
  const names = [...new Set(findings.flatMap((finding) => finding.names))]
  for await (const statements of listStatements(db, scope.org_id, [...byId.keys()], names)) {
    for (const statement of statements) judge.hear(statement, byId.get(statement.document_id) as AppliedDocument)
  }
  return judge.verdicts
}
