import { IconRocket } from '@tabler/icons-react'
import { useOrganization, usePermission } from '../api/session.ts'
import { ButtonLink } from '../page/link.tsx'
import { pages } from '../page/pages.ts'
import { Empty } from '../page/states.tsx'

/** The organization has no deployment yet: says how the first one comes about. */
export function NoDeployments() {
  const { slug: org } = useOrganization()
  const canConnect = usePermission('manage_integrations')
  return (
    <Empty
      icon={IconRocket}
      title="No deployments"
      actions={canConnect && <ButtonLink {...pages.codeHosts(org)}>Connect a code host</ButtonLink>}
    >
      Deployments of connected code hosts appear here by themselves. In other CI systems, run{' '}
      <code>shiplock gate open --wait</code> before the job that deploys.
    </Empty>
  )
}
