import type { Tx } from '../../platform/db/sql.ts'
import type { RepositoryChange } from '../issues/writing/grouping.store.ts'
import type { NewIssues } from '../issues/writing/issue-refresh.store.ts'
import { evaluateFindings } from './judge-findings.ts'
import { countClosed, listCandidates, listDocuments } from './verdict.store.ts'
import { writeVerdicts } from './write-verdicts.ts'

/** The findings that were dismissed or reopened, and the issues of this time that were closed. */
type Applied = { changed: number; closed: NewIssues }
const NOTHING: Applied = { changed: 0, closed: { open: 0, critical: 0, high: 0 } }

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
  const verdicts = await evaluateFindings(tx, scope, documents, candidates)
  const { changed, issueIds } = await writeVerdicts(tx, scope, candidates, verdicts)
  return issueIds.length === 0 ? { ...NOTHING, changed } : { changed, closed: await countClosed(tx, scope, issueIds) }
}

/** Applies the statements to the findings that a report or alert has just changed. */
export async function followStatements(tx: Tx, scope: RepositoryChange): Promise<NewIssues> {
  return (await applyStatements(tx, scope, scope.at)).closed
}
