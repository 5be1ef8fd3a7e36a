import { NativeSelect, type NativeSelectProps, Stack, Text } from '@mantine/core'
import { IconBan, IconCircleCheck, IconClock } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { CREDENTIAL_STATES, credentialState } from './credential-state.ts'

const BADGES = {
  active: ['success', IconCircleCheck, 'Active'],
  expired: ['neutral', IconClock, 'Expired'],
  revoked: ['neutral', IconBan, 'Revoked'],
} as const

/** The states as options of a filter. */
export const CREDENTIAL_STATE_OPTIONS = CREDENTIAL_STATES.map((value) => ({ value, label: BADGES[value][2] }))

const DAY_MS = 86_400_000

const CHOICES = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: '', label: 'Never' },
]

export const EXPIRY_DEFAULT = '90'

type Credential = Parameters<typeof credentialState>[0]

export function CredentialBadge({ credential }: { credential: Credential }) {
  const [tone, icon, label] = BADGES[credentialState(credential)]
  return (
    <ToneBadge tone={tone} icon={icon}>
      {label}
    </ToneBadge>
  )
}

type CredentialNameProps = {
  credential: { name: string; created_by: string; created_at: string }
  /** The name is cut off after these lines. */
  lines: number
}

/** The name of an API key or an OIDC trust, with who created it and when. */
export function CredentialName({ credential: { name, created_by, created_at }, lines }: CredentialNameProps) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500} lineClamp={lines}>
        {name}
      </Text>
      <Text size="xs" c="dimmed" lineClamp={1} component="div">
        {created_by} · <Time at={created_at} />
      </Text>
    </Stack>
  )
}

/** The time of a choice of `ExpirySelect`. Null: never. */
export function expiryTime(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
}

/** When a key or a trust ends. Its value is a number of days. */
export function ExpirySelect({ value, ...props }: NativeSelectProps & { value?: string }) {
  const at = expiryTime(value ?? '')
  return (
    <NativeSelect
      label="Expires"
      description={at === null ? 'It works until somebody revokes it.' : `It works until ${formatTime(at)}.`}
      data={CHOICES}
      value={value}
      {...props}
    />
  )
}
