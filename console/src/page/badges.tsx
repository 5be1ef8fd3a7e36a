import { Avatar, Badge, type BadgeProps, Group, Text, Tooltip } from '@mantine/core'
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
  IconShieldCheck,
  IconShieldOff,
  IconUserEdit,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Schema } from '../api/client.ts'
import { PROVIDER_NAMES, type Provider } from './names.ts'

const SEVERITIES: Record<Severity, [label: string, icon: Icon]> = {
  critical: ['Critical', IconAlertHexagon],
  high: ['High', IconArrowUpCircle],
  medium: ['Medium', IconAlertTriangle],
  low: ['Low', IconArrowDownCircle],
  info: ['Info', IconInfoCircle],
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
  ended: ['Ended', 'neutral', IconCircleMinus],
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

/** The lanes of statements, in words. */
const LEVELS: Record<Trust, [label: string, explanation: string, icon: Icon, token: string]> = {
  verified: ['Verified by its token', 'Stated by the OIDC token of the run itself.', IconShieldCheck, 'success'],
  self_reported: [
    'Reported by an API key',
    'Stated by an API key, or by the OIDC token of another run. Policies do not count it as verified evidence.',
    IconUserEdit,
    'neutral',
  ],
  untrusted: ['Untrusted job', 'Code of strangers may have run in the job that stated it.', IconShieldOff, 'waiting'],
}

export type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>

/** A colour with a meaning: a token of theme.css. */
export type Tone = 'success' | 'failure' | 'running' | 'waiting' | 'neutral' | Severity

type Severity = Schema<'Issue'>['severity']

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

type Trust = Schema<'StoredArtifact'>['trust']

/** Who stated something. `provider` is the source of a run: a code host, or `other`. */
type TrustProps = { trust: string; provider?: string }

function trustLook({ trust, provider }: TrustProps): (typeof LEVELS)[Trust] {
  const look = LEVELS[trust as Trust] ?? [trust, '', IconShieldOff, 'neutral']
  const host = PROVIDER_NAMES[provider as Provider]
  if (host === undefined || trust !== 'verified') return look
  return [`Verified by ${host}`, `Stated by ${host} itself, which is connected.`, look[2], look[3]]
}

/** Who stated something, and how far that can be trusted. Hover or focus explains it. */
export function TrustBadge(props: TrustProps) {
  const [label, explanation, Icon, token] = trustLook(props)
  return (
    <Tooltip label={explanation} multiline maw={300}>
      <Badge
        variant="transparent"
        px={0}
        leftSection={<Icon size={14} aria-hidden />}
        style={{ color: `var(--shiplock-${token})` }}
        // Focusable, so that the explanation can be read without a mouse.
        tabIndex={0}
      >
        {label}
      </Badge>
    </Tooltip>
  )
}

/** A trust level in words. */
export function nameTrust(props: TrustProps): string {
  return trustLook(props)[0]
}

/** The explanation of a trust level, as a sentence. */
export function explainTrust(props: TrustProps): string {
  return trustLook(props)[1]
}

/** Somebody by name or login. Their initials stand for a picture, which would come from another host. */
export function PersonName({ name }: { name: string }) {
  return (
    <Group gap={6} wrap="nowrap" style={{ minWidth: 0 }}>
      <Avatar size={20} radius="xl" aria-hidden styles={{ placeholder: { fontSize: 9 } }}>
        {initialsOf(name)}
      </Avatar>
      <Text span size="sm" truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
    </Group>
  )
}

function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean)
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}
