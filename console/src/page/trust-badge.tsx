import { Badge, Tooltip } from '@mantine/core'
import { IconShieldCheck, IconShieldOff, IconUserEdit } from '@tabler/icons-react'
import type { Schema } from '../api/client.ts'
import type { Icon } from './badges.tsx'

export type Trust = Schema<'StoredArtifact'>['trust']

const LEVELS: Record<Trust, [label: string, explanation: string, icon: Icon, token: string]> = {
  verified: [
    'Verified',
    'Stated by the connected code host, or by the OIDC token of the run itself.',
    IconShieldCheck,
    'success',
  ],
  self_reported: [
    'Self-reported',
    'Stated by an API key, or by the OIDC token of another run. Policies do not count it as verified evidence.',
    IconUserEdit,
    'neutral',
  ],
  untrusted: ['Untrusted', 'Code of strangers may have run in the job that stated it.', IconShieldOff, 'waiting'],
}

/** How far evidence can be trusted. Hover or focus explains it. */
export function TrustBadge({ trust }: { trust: string }) {
  const [label, explanation, Icon, token] = LEVELS[trust as Trust] ?? [trust, trust, IconShieldOff, 'neutral']
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

/** The explanation of a trust level, as a sentence. */
export function explainTrust(trust: string): string {
  return LEVELS[trust as Trust]?.[1] ?? ''
}
