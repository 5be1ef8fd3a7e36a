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
}

/** Things of one type that are triaged together. */
export type Targets = {
  type: TargetType
  items: Target[]
  /** Chosen as well, but not in a state to be triaged so. */
  skipped?: number
}

export function issueTarget({ id, title, status, member_count }: Schema<'Issue'>): Target {
  return { id, title, isOpen: status === 'open', isDismissed: status === 'dismissed', findings: member_count }
}

export function findingTarget({ id, title, state }: Schema<'Finding'>): Target {
  return { id, title, isOpen: state === 'open', isDismissed: state === 'dismissed', findings: 1 }
}

export function alertTarget({ id, title, status }: Schema<'Alert'>): Target {
  return { id, title, isOpen: status === 'open', isDismissed: status === 'dismissed', findings: 1 }
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
