import { Badge, type BadgeProps } from '@mantine/core'
import {
  IconAlertHexagon,
  IconAlertTriangle,
  IconArrowDownCircle,
  IconArrowUpCircle,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleMinus,
  IconCircleX,
  IconClock,
  IconInfoCircle,
  IconLoader2,
  IconPlayerSkipForward,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Schema } from '../api/client.ts'

export type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
/** A colour with a meaning: a token of theme.css. */
export type Tone = 'success' | 'failure' | 'running' | 'waiting' | 'neutral' | Severity
export type Severity = Schema<'Issue'>['severity']

/** A word with an icon in the colour of its meaning. Never colour alone. */
export function ToneBadge({
  tone,
  icon: Icon,
  children,
  ...props
}: BadgeProps & { tone: Tone; icon: Icon; children: string }) {
  const color = `var(--shiplock-${tone})`
  return (
    <Badge
      leftSection={<Icon size={13} aria-hidden />}
      style={{ color, background: `color-mix(in srgb, ${color} 10%, transparent)` }}
      {...props}
    >
      {children}
    </Badge>
  )
}

const SEVERITIES: Record<Severity, [label: string, icon: Icon]> = {
  critical: ['Critical', IconAlertHexagon],
  high: ['High', IconArrowUpCircle],
  medium: ['Medium', IconAlertTriangle],
  low: ['Low', IconArrowDownCircle],
  info: ['Info', IconInfoCircle],
}

/** How a severity is shown. */
export function severityLook(severity: Severity): { label: string; icon: Icon } {
  const [label, icon] = SEVERITIES[severity]
  return { label, icon }
}

export function SeverityBadge({ severity }: { severity: Severity }) {
  const { label, icon } = severityLook(severity)
  return (
    <ToneBadge tone={severity} icon={icon}>
      {label}
    </ToneBadge>
  )
}

/** The statuses of runs, jobs, deployments, gates, uploads, issues and results, as the API names them. */
const STATUSES: Record<string, [label: string, tone: Tone, icon: Icon]> = {
  success: ['Success', 'success', IconCircleCheck],
  failure: ['Failed', 'failure', IconCircleX],
  failed: ['Failed', 'failure', IconCircleX],
  timed_out: ['Timed out', 'failure', IconClock],
  error: ['Error', 'failure', IconAlertTriangle],
  in_progress: ['In progress', 'running', IconLoader2],
  processing: ['Processing', 'running', IconLoader2],
  parsing: ['Reading', 'running', IconLoader2],
  queued: ['Queued', 'waiting', IconCircleDashed],
  pending: ['Pending', 'waiting', IconCircleDashed],
  waiting: ['Waiting', 'waiting', IconClock],
  cancelled: ['Cancelled', 'neutral', IconCircleMinus],
  skipped: ['Skipped', 'neutral', IconPlayerSkipForward],
  approved: ['Approved', 'success', IconCircleCheck],
  rejected: ['Rejected', 'failure', IconCircleX],
  expired: ['Expired', 'neutral', IconClock],
  completed: ['Completed', 'success', IconCircleCheck],
  finished: ['Finished', 'success', IconCircleCheck],
  open: ['Open', 'waiting', IconCircleDashed],
  fixed: ['Fixed', 'success', IconCircleCheck],
  dismissed: ['Dismissed', 'neutral', IconCircleMinus],
  pass: ['Pass', 'success', IconCircleCheck],
  fail: ['Fail', 'failure', IconCircleX],
  info: ['Info', 'neutral', IconInfoCircle],
  uploaded: ['Uploaded', 'success', IconCircleCheck],
  not_reported: ['Not reported', 'neutral', IconCircleDashed],
  warn: ['Warning', 'waiting', IconAlertTriangle],
  passing: ['Passing', 'success', IconCircleCheck],
  failing: ['Failing', 'failure', IconCircleX],
  warning: ['Warning', 'waiting', IconAlertTriangle],
  not_evaluated: ['Not evaluated', 'neutral', IconCircleDashed],
}

/** How a status is shown. Statuses that are not in the table show as they are. */
export function statusLook(status: string): { label: string; tone: Tone; icon: Icon } {
  const [label, tone, icon] = STATUSES[status] ?? [status.replaceAll('_', ' '), 'neutral', IconCircleDashed]
  return { label, tone, icon }
}

/** The status of anything. */
export function StatusBadge({ status }: { status: string }) {
  const { label, tone, icon } = statusLook(status)
  return (
    <ToneBadge tone={tone} icon={icon}>
      {label}
    </ToneBadge>
  )
}
