import { IconBan, IconCircleCheck, IconClock } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import { CREDENTIAL_STATES, credentialState } from './credential-state.ts'

type Credential = Parameters<typeof credentialState>[0]

const BADGES = {
  active: ['success', IconCircleCheck, 'Active'],
  expired: ['neutral', IconClock, 'Expired'],
  revoked: ['neutral', IconBan, 'Revoked'],
} as const

export function CredentialBadge({ credential }: { credential: Credential }) {
  const [tone, icon, label] = BADGES[credentialState(credential)]
  return (
    <ToneBadge tone={tone} icon={icon}>
      {label}
    </ToneBadge>
  )
}

/** The states as options of a filter. */
export const CREDENTIAL_STATE_OPTIONS = CREDENTIAL_STATES.map((value) => ({ value, label: BADGES[value][2] }))
