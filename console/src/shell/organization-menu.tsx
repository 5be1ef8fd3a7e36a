import { Button, VisuallyHidden } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { lazy } from 'react'
import { useOrganization } from '../api/session.ts'
import { LazyMenu, type MenuButton } from './lazy-menu.tsx'

const load = async () => ({ default: (await import('./opened-organization-menu.tsx')).OpenedOrganizationMenu })
const OpenedOrganizationMenu = lazy(load)

/** Shows the organization, and switches to another one. */
export function OrganizationMenu() {
  return <LazyMenu button={OrganizationButton} menu={OpenedOrganizationMenu} load={load} />
}

const OrganizationButton: MenuButton = (props) => {
  const { name } = useOrganization()
  return (
    <Button
      variant="subtle"
      color="gray"
      justify="space-between"
      rightSection={<IconSelector size={15} aria-hidden />}
      {...props}
    >
      {name}
      <VisuallyHidden>: switch organization</VisuallyHidden>
    </Button>
  )
}
