import { Avatar, Button } from '@mantine/core'
import { IconUser } from '@tabler/icons-react'
import { lazy } from 'react'
import { useSession } from '../api/session.ts'
import { LazyMenu, type MenuButton } from './lazy-menu.tsx'

const load = async () => ({ default: (await import('./opened-user-menu.tsx')).OpenedUserMenu })
const OpenedUserMenu = lazy(load)

/** The account, the theme, and signing out. */
export function UserMenu() {
  return <LazyMenu button={UserButton} menu={OpenedUserMenu} load={load} />
}

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
