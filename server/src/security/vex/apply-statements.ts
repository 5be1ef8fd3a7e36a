import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { getPackageIdentity } from '../vocabulary/package-url.ts'
import { removeDistribution } from '../vocabulary/vulnerability-id.ts'
import { listCanonicalIds, lockTriaged, type RepositoryChange } from '../writing/grouping.store.ts'
import type { NewIssues } from '../writing/issue-writing.store.ts'
import { toComparedIds } from './statement-match.ts'
import {
  type AppliedDocument,
  countClosed,
  findOwnRepository,
  type JudgedFacts,
  listCandidates,
  listDocuments,
  listPackages,
  listRepositories,
  listStatements,
  listSubjects,
  type RepositoryScope,
} from './verdict.store.ts'
import { Judge } from './verdict.ts'
import { writeVerdicts } from './write-verdicts.ts'

/**
 * The findings that were dismissed or reopened, the issues of this time that were closed, and how
 * many statements of each document match a finding.
 */
type Applied = { changed: number; closed: NewIssues; matched: ReadonlyMap<string, number> }
const NOTHING: Applied = { changed: 0, closed: { open: 0, critical: 0, high: 0 }, matched: new Map() }

/**
 * Brings findings in line with the statements of the repository's VEX documents: all findings, or
 * those that changed since a time. The repository must be locked.
 */
export async function applyStatements(
  tx: Tx,
  scope: RepositoryChange,
  changedSince: Date | null = null,
): Promise<Applied> {
  const documents = await listDocuments(tx, scope)
  if (documents.length === 0) return NOTHING
  const candidates = await listCandidates(tx, scope, changedSince)
  if (candidates.length === 0) return NOTHING
  const { verdicts, matched } = await evaluateFindings(tx, scope, documents, candidates)
  const { changed, issueIds } = await writeVerdicts(tx, scope, candidates, verdicts)
  const closed = issueIds.length === 0 ? NOTHING.closed : await countClosed(tx, scope, issueIds)
  return { changed, closed, matched }
}

/** Applies the statements to the findings that a report or alert has just changed, or to all. */
export async function followStatements(tx: Tx, scope: RepositoryChange, ofAll = false): Promise<NewIssues> {
  return (await applyStatements(tx, scope, ofAll ? null : scope.at)).closed
}

/** Finds the statement of these documents that decides about each finding, by the finding's id. */
export async function evaluateFindings(
  db: Db,
  scope: RepositoryScope,
  documents: readonly AppliedDocument[],
  candidates: readonly JudgedFacts[],
): Promise<Pick<Judge, 'verdicts' | 'matched'>> {
  const ids = [...new Set(candidates.flatMap(({ vuln_ids }) => vuln_ids.map(removeDistribution)))]
  const aliases = await listCanonicalIds(db, ids)
  const canonicalId = (id: string) => aliases.get(id) ?? id
  const findings = candidates.map((finding) => ({ ...finding, names: toComparedIds(finding.vuln_ids, canonicalId) }))
  const packages = await listPackages(db, scope)
  const identities = new Set(packages.flatMap((purl) => getPackageIdentity({ purl, name: null }) ?? []))
  const repository = { ...(await findOwnRepository(db, scope)), subjects: await listSubjects(db, scope) }
  const judge = new Judge(repository, identities, findings)
  const byId = new Map(documents.map((document) => [document.id, document]))
  const names = [...new Set(findings.flatMap((finding) => finding.names))]
  for await (const statements of listStatements(db, scope.org_id, [...byId.keys()], names)) {
    for (const statement of statements) judge.hear(statement, byId.get(statement.document_id) as AppliedDocument)
  }
  return judge
}

/**
 * Applies the statements of every repository again after an import of aliases: a statement and a
 * finding may now name the same vulnerability by different ids, or no longer do so.
 */
export async function followAliases({ sql, clock }: Services, { source }: { source: string }): Promise<void> {
  if (source !== 'osv') return
  for (const { org_id, repository_no } of await listRepositories(sql)) {
    await sql.begin(async (tx) => {
      await lockTriaged(tx, org_id, [repository_no])
      await applyStatements(tx, { org_id, repository_no, at: clock.now() })
    })
  }
}
