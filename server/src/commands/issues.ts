import { UsageError } from '@shiplock/command-line/options'
import { requireOrganization } from '../organizations/organization.ts'
import { isUuid } from '../platform/ids.ts'
import type { IssueChange } from '../security/issues/grouping/describe-groups.ts'
import { countFindings } from '../security/issues/regroup.store.ts'
import type { RegroupCounts } from '../security/issues/regroup-buckets.ts'
import { measureRegroup, REPOSITORIES_AT_ONCE, regroupOrganization } from '../security/issues/regroup-organization.ts'
import type { RegroupRun } from '../security/issues/regroup-run.store.ts'
import { undoRegroup } from '../security/issues/undo-regroup.ts'
import type { Services } from '../services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { defineCommand, formatTable, type Output } from './command.ts'
import { withServices } from './with-services.ts'

const CHANGES_SHOWN_MAX = 100

export const issuesRegroup = defineCommand({
  name: 'issues regroup',
  about:
    'Regroups all findings into unique issues by the current rules. The server can be running. Run it again to continue an interrupted regroup.',
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    'dry-run': { type: 'flag', value: '', about: 'show the changes without writing them' },
    undo: { type: 'text', value: '<regroup>', about: 'undo the regroup with this id' },
  },
  async run(context, _given, { org, undo, 'dry-run': isDry }) {
    if (undo !== undefined && isDry) throw new UsageError('--undo and --dry-run cannot be combined')
    if (undo !== undefined && !isUuid(undo)) throw new UsageError(`"${undo}" is not the id of a regroup`)
    const output = await withServices(
      context,
      async (services) => {
        const { id } = await requireOrganization(services.sql, org)
        if (undo !== undefined) return undoOutput(await undoRegroup(services, id, undo, () => {}))
        return regroup(services, id, isDry, context.say)
      },
      REPOSITORIES_AT_ONCE,
    )
    context.print(output)
  },
})

async function regroup(
  services: Services,
  orgId: string,
  isDry: boolean,
  say: (line: string) => void,
): Promise<Output> {
  const shown: IssueChange[] = []
  const [progress, total] = [new ProgressBar(say), await countFindings(services.sql, orgId)]
  const follow = (counts: RegroupCounts, changes: readonly IssueChange[]) => {
    progress.reach(counts.findings, total, 'findings')
    shown.push(...changes.slice(0, CHANGES_SHOWN_MAX - shown.length))
  }
  const done = isDry
    ? { ...(await measureRegroup(services, orgId, follow)), id: null }
    : await regroupOrganization(services, orgId, follow)
  progress.end()
  return regroupOutput(done, shown)
}

/** A dry run has no id. */
function regroupOutput(done: RegroupCounts & { id: string | null }, changes: IssueChange[]): Output {
  const { id, findings, moved, restated, merged, split, reopened } = done
  const more = merged + split - changes.length
  const rows = changes.map((change) => [change.event, change.issue_id, change.other_issue_id, change.detail])
  const lines = [
    ...(rows.length === 0 ? [] : [formatTable(['EVENT', 'ISSUE', 'OTHER ISSUE', 'REASON'], rows, '')]),
    ...(more > 0 ? [`and ${more} more changes`] : []),
    `${findings} findings regrouped: ${moved} moved to another issue, ${restated} with a new reason. ${merged} issues merged, ${split} split.`,
    ...(reopened > 0 ? [`${reopened} findings that only followed the dismissal of others are open again.`] : []),
    id === null ? 'Dry run: nothing was written.' : `To undo it, run: issues regroup --org <slug> --undo ${id}`,
  ]
  const counts = { findings, moved, restated, merged, split, reopened }
  return {
    json: { regroup_id: id, dry_run: id === null, ...counts, changes, changes_left_out: Math.max(0, more) },
    text: lines.join('\n'),
  }
}

function undoOutput({ id, status }: RegroupRun): Output {
  return { json: { regroup_id: id, status }, text: `Regroup ${id} was undone.` }
}
