import type { Schema } from '../../api/client.ts'
import { formatCount } from '../../page/numbers.ts'

export type TargetType = 'issue' | 'finding' | 'alert'

/** What somebody triages, as far as the triage has to know it. */
export type Target = {
  id: string
  title: string
  isOpen: boolean
  isDismissed: boolean
  /** The findings that it stands for. */
  findings: number
  /** Whether it is about a vulnerability of a package. */
  isVulnerability: boolean
}

/** Things of one type that are triaged together. */
export type Targets = {
  type: TargetType
  items: Target[]
  /** Chosen as well, but not in a state to be triaged so. */
  skipped?: number
}

export function issueTarget(issue: Schema<'Issue'>): Target {
  const { id, title, status, member_count } = issue
  return { id, title, ...toState(status), findings: member_count, isVulnerability: isOfPackage(issue) }
}

export function findingTarget(finding: Schema<'Finding'>): Target {
  const { id, title, state } = finding
  return { id, title, ...toState(state), findings: 1, isVulnerability: isOfPackage(finding) }
}

export function alertTarget({ id, title, status }: Schema<'Alert'>): Target {
  return { id, title, ...toState(status), findings: 1, isVulnerability: false }
}

function toState(state: string) {
  return { isOpen: state === 'open', isDismissed: state === 'dismissed' }
}

function isOfPackage({ package_name, vuln_ids }: Pick<Schema<'Finding'>, 'package_name' | 'vuln_ids'>): boolean {
  return package_name !== null && vuln_ids.length > 0
}

/** Those that can be dismissed, or reopened. The API refuses all if it must refuse one. */
export function dismissable({ type, items }: Targets): Targets {
  const open = items.filter(({ isOpen }) => isOpen)
  return { type, items: open, skipped: items.length - open.length }
}

export function reopenable({ type, items }: Targets): Targets {
  return { type, items: items.filter(({ isDismissed }) => isDismissed) }
}

/** "1 issue", "1,000 findings". */
export function countTargets(type: TargetType, count: number): string {
  return `${formatCount(count)} ${type}${count === 1 ? '' : 's'}`
}
