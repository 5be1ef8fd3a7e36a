import { Avatar, Badge, Button, VisuallyHidden } from '@mantine/core'
import { IconSelector, IconUser } from '@tabler/icons-react'
import { useOrganization, useSession } from '../api/session.ts'
import { LazyMenu, lazyMenu, type MenuButton } from './lazy-menu.tsx'

const loadOrganizationMenu = async () => (await import('./opened-menus.tsx')).OpenedOrganizationMenu
const OpenedOrganizationMenu = lazyMenu(loadOrganizationMenu)

const OrganizationButton: MenuButton = (props) => {
  const { name, is_demo: isDemo } = useOrganization()
  return (
    <Button
      variant="subtle"
      color="gray"
      justify="space-between"
      rightSection={<IconSelector size={15} aria-hidden />}
      {...props}
    >
      {name}
      {isDemo && (
        <Badge size="xs" variant="default" ml={8}>
          Example data
        </Badge>
      )}
      <VisuallyHidden>: switch organization</VisuallyHidden>
    </Button>
  )
}

const loadUserMenu = async () => (await import('./opened-menus.tsx')).OpenedUserMenu
const OpenedUserMenu = lazyMenu(loadUserMenu)

const UserButton: MenuButton = (props) => {
  const { user } = useSession()
  return (
    <Button
      variant="subtle"
      color="gray"
      justify="flex-start"
      leftSection={
        <Avatar size={24} aria-hidden>
          <IconUser size={15} />
        </Avatar>
      }
      {...props}
    >
      {user.name}
    </Button>
  )
}

/** Shows the organization, and switches to another one. */
export function OrganizationMenu() {
  return <LazyMenu button={OrganizationButton} menu={OpenedOrganizationMenu} load={loadOrganizationMenu} />
}

/** The account, the theme, and signing out. */
export function UserMenu() {
  return <LazyMenu button={UserButton} menu={OpenedUserMenu} load={loadUserMenu} />
}
