import {
  IconArrowBackUp,
  IconCircleCheck,
  IconCircleMinus,
  IconCircleX,
  IconClock,
  IconLoader2,
  IconShieldX,
} from '@tabler/icons-react'
import { ToneBadge } from '../page/badges.tsx'
import type { DeploymentState } from './deployment-state.ts'

const ICONS = {
  waiting: IconClock,
  blocked: IconShieldX,
  done: IconCircleCheck,
  failed: IconCircleX,
  running: IconLoader2,
  stopped: IconCircleMinus,
  back: IconArrowBackUp,
}

/** The state of a deployment: words with an icon. */
export function DeploymentStateBadge({ state, size }: { state: DeploymentState; size?: 'lg' }) {
  return (
    <ToneBadge tone={state.tone} icon={ICONS[state.icon]} size={size} maw="100%">
      {state.label}
    </ToneBadge>
  )
}
