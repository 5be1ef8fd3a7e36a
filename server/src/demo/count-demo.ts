import { countRows } from '../organizations/organization-rows.store.ts'
import type { Db } from '../platform/db/sql.ts'

/** What is counted, and in which table. */
const COUNTED = {
  repositories: 'repositories',
  members: 'members',
  runs: 'ci_runs',
  reports: 'ci_reports',
  artifacts: 'ci_artifacts',
  deployments: 'deployments',
  changes: 'changes',
  statements: 'statements',
  uploads: 'security_uploads',
  findings: 'findings',
  issues: 'security_issues',
  alerts: 'security_alerts',
  policies: 'policies',
  gates: 'configured_gates',
  audit_entries: 'audit_entries',
} as const

export type DemoCounts = Record<keyof typeof COUNTED, number>

/** What the example data contains. */
export async function countDemo(db: Db, orgId: string): Promise<DemoCounts> {
  const counts: [string, number][] = []
  for (const [what, table] of Object.entries(COUNTED)) counts.push([what, await countRows(db, table, orgId)])
  return Object.fromEntries(counts) as DemoCounts
}
