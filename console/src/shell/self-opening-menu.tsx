import { Menu, type MenuProps } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { MenuButton } from './lazy-menu.tsx'

type SelfOpeningMenuProps = Pick<MenuProps, 'position'> & { button: MenuButton; children: ReactNode }

/**
 * A menu that was loaded because somebody asked for it. It opens after its button has the focus,
 * which it gives back when it closes.
 */
export function SelfOpeningMenu({ button: Button, children, position }: SelfOpeningMenuProps) {
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
