import { Menu, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useSession } from '../api/session.ts'
import type { MenuButton } from './lazy-menu.tsx'
import { SelfOpeningMenu } from './self-opening-menu.tsx'
import { showShortcuts } from './shown-dialog.ts'
import { useSignOut } from './sign-out.ts'

const THEMES = [
  ['auto', 'System theme', IconDeviceDesktop],
  ['light', 'Light theme', IconSun],
  ['dark', 'Dark theme', IconMoon],
] as const

/** The account, the theme, and signing out. */
export function OpenedUserMenu({ button }: { button: MenuButton }) {
  const { user } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const navigate = useNavigate()
  const signOut = useSignOut()
  return (
    <SelfOpeningMenu button={button} position="top-start">
      <Menu.Label>{user.email}</Menu.Label>
      <Menu.Item leftSection={<IconUser size={15} />} onClick={() => navigate({ to: '/account' })}>
        Account
      </Menu.Item>
      <Menu.Item leftSection={<IconKeyboard size={15} />} onClick={showShortcuts}>
        Keyboard shortcuts
      </Menu.Item>
      <Menu.Divider />
      {THEMES.map(([scheme, label, Icon]) => (
        <Menu.Item
          key={scheme}
          leftSection={<Icon size={15} />}
          onClick={() => setColorScheme(scheme)}
          aria-current={colorScheme === scheme}
        >
          {label}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item leftSection={<IconLogout size={15} />} onClick={signOut}>
        Sign out
      </Menu.Item>
    </SelfOpeningMenu>
  )
}
