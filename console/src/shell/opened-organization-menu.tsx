import { Menu } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useOrganization, useSession } from '../api/session.ts'
import { pages } from '../page/pages.ts'
import type { MenuButton } from './lazy-menu.tsx'
import { SelfOpeningMenu } from './self-opening-menu.tsx'

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
