import { Menu, type MenuProps, useMantineColorScheme } from '@mantine/core'
import {
  IconCheck,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
} from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { useOrganization, useSession } from '../api/session.ts'
import { pages } from '../page/pages.ts'
import type { MenuButton } from './lazy-menu.tsx'
import { showShortcuts } from './shown-dialog.ts'
import { useSignOut } from './sign-out.ts'

const THEMES = [
  ['auto', 'System theme', IconDeviceDesktop],
  ['light', 'Light theme', IconSun],
  ['dark', 'Dark theme', IconMoon],
] as const

/** The organizations of the user, to switch to one of them. */
export function OpenedOrganizationMenu({ button }: { button: MenuButton }) {
  const { organizations } = useSession()
  const current = useOrganization()
  const navigate = useNavigate()
  return (
    <SelfOpeningMenu button={button} position="bottom-start">
      {organizations.map(({ slug, name }) => (
        <Menu.Item
          key={slug}
          leftSection={slug === current.slug ? <IconCheck size={15} /> : <span style={{ width: 15 }} />}
          onClick={() => navigate(pages.home(slug))}
        >
          {name}
        </Menu.Item>
      ))}
    </SelfOpeningMenu>
  )
}

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

type SelfOpeningMenuProps = Pick<MenuProps, 'position'> & { button: MenuButton; children: ReactNode }

/**
 * A menu that was loaded because somebody asked for it. It opens after its button has the focus,
 * which it gives back when it closes.
 */
function SelfOpeningMenu({ button: Button, children, position }: SelfOpeningMenuProps) {
  const [opened, setOpened] = useState(false)
  useEffect(() => setOpened(true), [])
  return (
    <Menu position={position} width={220} opened={opened} onChange={setOpened}>
      <Menu.Target>
        <Button autoFocus />
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
