import { Anchor, Button, NavLink, Stack, Text } from '@mantine/core'
import { IconBuilding, IconSearch } from '@tabler/icons-react'
import { Link, Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useShortcuts } from '../actions/shortcuts.ts'
import { useLiveUpdates } from '../api/live-updates.ts'
import { useSession } from '../api/session.ts'
import { formatAddress, pages } from '../page/pages.ts'
import { Empty } from '../page/states.tsx'
import classes from './app-frame.module.css'
import { AppFrame } from './app-frame.tsx'
import { ConnectionNotice } from './connection-notice.tsx'
import { Keys } from './keys.tsx'
import { OrganizationMenu } from './menus.tsx'
import { MAIN_PAGES, NAVIGATION, rememberOrganization } from './navigation.ts'
import { openCommandPalette } from './shown-dialog.ts'

/** The frame around the pages of an organization. */
export function OrganizationShell() {
  const { org } = useParams({ from: '/signed-in/orgs/$org' })
  const { organizations } = useSession()
  if (!organizations.some(({ slug }) => slug === org))
    return (
      <main>
        <Empty icon={IconBuilding} title="Organization not found" level={1}>
          You are not a member of an organization with the name “{org}”.{' '}
          <Anchor href="/" underline="always">
            Go to your organizations
          </Anchor>
          .
        </Empty>
      </main>
    )
  return <Frame org={org} key={org} />
}

function Frame({ org }: { org: string }) {
  useLiveUpdates(org)
  useEffect(() => rememberOrganization(org), [org])
  return (
    <AppFrame top={<OrganizationMenu />} links={<Navigation org={org} />}>
      <Outlet />
      <ConnectionNotice />
    </AppFrame>
  )
}

function Navigation({ org }: { org: string }) {
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useShortcuts(
    'Navigation',
    MAIN_PAGES.map(({ label, page, key }) => ({
      keys: `g ${key}`,
      label,
      run: () => void navigate(page(org)),
    })),
  )
  return (
    <Stack gap={2}>
      <Button
        variant="default"
        size="xs"
        mb={6}
        classNames={{ root: classes.search, label: classes.searchLabel }}
        justify="space-between"
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={<Keys keys="mod+k" />}
        onClick={openCommandPalette}
      >
        Search
      </Button>
      {NAVIGATION.map(({ title, items }) => (
        <Stack key={title} gap={2}>
          {title && (
            <Text size="xs" fw={500} c="dimmed" className={classes.heading}>
              {title}
            </Text>
          )}
          {items.map(({ label, page, icon: Icon }) => {
            const start = formatAddress(page(org))
            const isActive = path === start || (page !== pages.home && path.startsWith(`${start}/`))
            return (
              <NavLink
                key={label}
                renderRoot={(props) => <Link {...page(org)} activeOptions={{ exact: true }} {...props} />}
                label={label}
                leftSection={<Icon size={17} aria-hidden />}
                active={isActive}
                aria-current={isActive ? 'page' : undefined}
                className={classes.item}
              />
            )
          })}
        </Stack>
      ))}
    </Stack>
  )
}
