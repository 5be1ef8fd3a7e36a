import { updateTriagedFindings } from '../triage/writing/triaged-finding.store.ts'
import { listFollowed, listFollowers } from './dismissed-issue.store.ts'
import { upsertFindings, type Written } from './finding-merge.store.ts'
import type { GroupedReport } from './group-report.ts'
import type { Closing } from './judge-streams.ts'

/**
 * Writes the findings. New findings, and fixed ones that come back, are dismissed if a person has
 * dismissed all other findings of their issue. `hasTriages` is false if nobody triaged in the
 * repository, so that most reports skip this.
 */
export async function writeAndFollow(
  grouped: GroupedReport,
  judged: readonly { id: number; closing: Closing }[],
  hasTriages: boolean,
): Promise<Written> {
  if (!hasTriages || grouped.touched.length === 0) return upsertFindings(grouped, judged)
  const { tx, scope } = grouped.paired
  const followed = await listFollowed(tx, scope.org_id, grouped.touched)
  const written = await upsertFindings(grouped, judged)
  for (const [triageId, findingIds] of await listFollowers(tx, scope.org_id, followed))
    await updateTriagedFindings(tx, scope.org_id, { triageId, findingIds, at: scope.at })
  return written
}
