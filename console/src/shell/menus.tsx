import { Avatar, Button, type ButtonProps, VisuallyHidden } from '@mantine/core'
import { IconSelector, IconUser } from '@tabler/icons-react'
import { type ComponentPropsWithRef, type ComponentType, lazy, Suspense, useState } from 'react'
import { useOrganization, useSession } from '../api/session.ts'

const loadOrganizationMenu = async () => ({ default: (await import('./opened-menus.tsx')).OpenedOrganizationMenu })
const OpenedOrganizationMenu = lazy(loadOrganizationMenu)

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

const loadUserMenu = async () => ({ default: (await import('./opened-menus.tsx')).OpenedUserMenu })
const OpenedUserMenu = lazy(loadUserMenu)

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

/** The button of a menu, the same before and after the menu is loaded. */
export type MenuButton = ComponentType<ButtonProps & Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps>>

type LazyMenuProps = {
  button: MenuButton
  /** Shows the button, takes the focus, and opens itself. */
  menu: ComponentType<{ button: MenuButton }>
  load: () => Promise<unknown>
}

/** A button whose menu is loaded when somebody reaches for it. */
function LazyMenu({ button: Button, menu: Menu, load }: LazyMenuProps) {
  const [isWanted, setWanted] = useState(false)
  const prepare = () => void load().catch(() => {})
  const closed = (
    <Button
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={() => setWanted(true)}
    />
  )
  if (!isWanted) return closed
  return (
    <Suspense fallback={closed}>
      <Menu button={Button} />
    </Suspense>
  )
}
