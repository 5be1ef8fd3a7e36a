import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import { updateSettledFindings } from '../writing/finding-writing.store.ts'
import type { RepositoryChange } from '../writing/grouping.store.ts'
import { updateEndedTriages } from '../writing/triage.store.ts'
import { refreshTriaged } from '../writing/write-triage.ts'
import {
  deleteTriagedFindings,
  insertStatedTriages,
  insertTriagedFindings,
  listEmptyTriages,
  listStatedTriages,
  type StatedDismissal,
  type StatedTriage,
} from './stated-triage.store.ts'
import type { Candidate } from './verdict.store.ts'
import { toDismissal, type Verdict } from './verdict.ts'

/** `issueIds` are the issues of findings whose state changed. */
type Written = { changed: number; issueIds: string[] }

/** Dismisses and reopens findings as the verdicts say. Writes only what differs. */
export async function writeVerdicts(
  tx: Tx,
  scope: RepositoryChange,
  candidates: readonly Candidate[],
  verdicts: ReadonlyMap<string, Verdict>,
): Promise<Written> {
  const { org_id, at } = scope
  const stored = await listStatedTriages(tx, scope)
  const { leaving, joining } = compareVerdicts(candidates, verdicts, stored)
  const findingIds = [...new Set([...leaving, ...joining].map(({ finding_id }) => finding_id))]
  if (findingIds.length === 0) return { changed: 0, issueIds: [] }
  await deleteTriagedFindings(tx, org_id, toColumns(leaving))
  await insertTriagedFindings(tx, org_id, toColumns(await withTriages(tx, scope, joining, stored)))
  const issueIds = await updateSettledFindings(tx, org_id, findingIds, at)
  const left = [...new Set(leaving.map(({ triage_id }) => triage_id))]
  const empty = await listEmptyTriages(tx, org_id, left)
  await updateEndedTriages(tx, org_id, empty, { as: 'replaced', by: null, at })
  await refreshTriaged(tx, org_id, issueIds, at)
  return { changed: findingIds.length, issueIds }
}

type Leaving = { finding_id: string; triage_id: string }
type Joining = { finding_id: string; dismissal: StatedDismissal }

function compareVerdicts(
  candidates: readonly Candidate[],
  verdicts: ReadonlyMap<string, Verdict>,
  stored: readonly StatedTriage[],
): { leaving: Leaving[]; joining: Joining[] } {
  const keys = new Map(stored.map((triage) => [triage.id, getKey(triage)]))
  const leaving: Leaving[] = []
  const joining: Joining[] = []
  for (const { id: finding_id, triage_id } of candidates) {
    const verdict = verdicts.get(finding_id)
    const dismissal = verdict === undefined ? null : toDismissal(verdict)
    const before = triage_id === null ? undefined : keys.get(triage_id)
    if (before === (dismissal === null ? undefined : getKey(dismissal))) continue
    if (triage_id !== null) leaving.push({ finding_id, triage_id })
    if (dismissal !== null) joining.push({ finding_id, dismissal })
  }
  return { leaving, joining }
}

/** Finds or makes the triage of each dismissal. */
async function withTriages(
  tx: Tx,
  scope: RepositoryChange,
  joining: readonly Joining[],
  stored: readonly StatedTriage[],
): Promise<Leaving[]> {
  const known = new Map(stored.map((triage) => [getKey(triage), triage.id]))
  const made = new Map<string, StatedTriage & { finding_ids: string[] }>()
  const joined = joining.map(({ finding_id, dismissal }) => {
    const key = getKey(dismissal)
    const triage = made.get(key) ?? { ...dismissal, id: known.get(key) ?? createUuid(scope.at), finding_ids: [] }
    triage.finding_ids.push(finding_id)
    made.set(key, triage)
    return { finding_id, triage_id: triage.id }
  })
  const isNew = ([key]: [string, unknown]) => !known.has(key)
  await insertStatedTriages(
    tx,
    scope,
    [...made].filter(isNew).map(([, triage]) => triage),
  )
  return joined
}

function toColumns(pairs: readonly Leaving[]) {
  return {
    triageIds: pairs.map(({ triage_id }) => triage_id),
    findingIds: pairs.map(({ finding_id }) => finding_id),
  }
}

function getKey({ source, reason, comment, by }: StatedDismissal): string {
  return JSON.stringify([source, reason, comment, by])
}
