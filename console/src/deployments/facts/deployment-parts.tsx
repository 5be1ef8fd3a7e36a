import {
  IconArrowBackUp,
  IconCircleCheck,
  IconCircleMinus,
  IconCircleX,
  IconClock,
  IconLoader2,
  IconRocket,
  IconShieldX,
} from '@tabler/icons-react'
import { useOrganization, usePermission } from '../../api/session.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { ButtonLink } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { Empty } from '../../page/states.tsx'
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

/** The organization has no deployment yet: says how the first one comes about. */
export function NoDeployments() {
  const { slug: org } = useOrganization()
  const canConnect = usePermission('manage_integrations')
  const managesGates = usePermission('manage_gates')
  return (
    <Empty
      icon={IconRocket}
      title="No deployments"
      actions={
        <>
          {canConnect && <ButtonLink {...pages.codeHosts(org)}>Connect a code host</ButtonLink>}
          {managesGates && <ButtonLink {...pages.newGate(org)}>Create a gate</ButtonLink>}
        </>
      }
    >
      Deployments of connected code hosts appear here by themselves. In other CI systems, create a gate for the
      environment, then run <code>shiplock gate open --wait</code> before the job that deploys.
    </Empty>
  )
}
