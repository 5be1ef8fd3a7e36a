import { IconEye, IconShieldCheck } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import type { Policy } from './vocabulary.ts'

/** Whether a policy can block a deployment. */
export function ModeBadge({ mode }: { mode: Policy['mode'] }) {
  return mode === 'enforce' ? (
    <ToneBadge tone="running" icon={IconShieldCheck}>
      Enforce
    </ToneBadge>
  ) : (
    <ToneBadge tone="neutral" icon={IconEye}>
      Monitor
    </ToneBadge>
  )
}
