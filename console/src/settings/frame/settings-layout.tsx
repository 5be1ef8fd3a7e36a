import { Box, NativeSelect, NavLink, Stack, Text, Tooltip } from '@mantine/core'
import {
  IconBuilding,
  IconChartBar,
  IconFingerprint,
  IconGitBranch,
  IconHistory,
  IconKey,
  IconLock,
  IconLogin2,
  IconServer2,
  IconShieldCheck,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { type Organization, type Permission, useOrganization } from '../../api/session.ts'
import { PERMISSION_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { formatAddress, type PageAddress, pages } from '../../page/pages.ts'
import { Forbidden } from '../../page/states.tsx'
import classes from './settings-layout.module.css'

/** The pages of the settings, in groups. */
const SETTINGS: { title: string; sections: SettingsSection[] }[] = [
  {
    title: 'Organization',
    sections: [
      { label: 'General', page: pages.general, icon: IconBuilding, permission: 'view' },
      { label: 'Members', page: pages.members, icon: IconUsers, permission: 'manage_members' },
      { label: 'Roles', page: pages.roles, icon: IconUserShield, permission: 'manage_members' },
      { label: 'Single sign-on', page: pages.singleSignOn, icon: IconLogin2, permission: 'manage_members' },
    ],
  },
  {
    title: 'Integrations',
    sections: [
      { label: 'API keys', page: pages.apiKeys, icon: IconKey, permission: 'manage_integrations' },
      { label: 'OIDC trusts', page: pages.oidcTrusts, icon: IconFingerprint, permission: 'manage_integrations' },
      { label: 'Code hosts', page: pages.codeHosts, icon: IconGitBranch, permission: 'manage_integrations' },
    ],
  },
  {
    title: 'Governance',
    sections: [
      { label: 'Gates', page: pages.gates, icon: IconShieldCheck, permission: 'view' },
      { label: 'Environments', page: pages.environments, icon: IconServer2, permission: 'view' },
      { label: 'Plan and usage', page: pages.usage, icon: IconChartBar, permission: 'view' },
      { label: 'Audit log', page: pages.auditLog, icon: IconHistory, permission: 'read_audit_log' },
    ],
  },
]

type MenuProps = { organization: Organization; current: SettingsSection | undefined }

/** The frame of the settings: their menu beside the page, or above it on a narrow screen. */
export function SettingsLayout() {
  const organization = useOrganization()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const current = SETTINGS.flatMap(({ sections }) => sections).find(({ page }) =>
    isBelow(path, formatAddress(page(organization.slug))),
  )
  return (
    <Box className={classes.layout}>
      <SideMenu organization={organization} current={current} />
      <SelectMenu organization={organization} current={current} />
      <Box className={classes.content}>
        {current === undefined || organization.permissions.includes(current.permission) ? (
          <Outlet />
        ) : (
          <Page title={current.label}>
            <Forbidden permission={current.permission} />
          </Page>
        )}
      </Box>
    </Box>
  )
}

function isBelow(path: string, address: string): boolean {
  return path === address || path.startsWith(`${address}/`)
}

function SideMenu({ organization, current }: MenuProps) {
  return (
    <Stack component="nav" aria-label="Settings" gap="md" className={classes.side}>
      {SETTINGS.map(({ title, sections }) => (
        <Stack key={title} gap={2}>
          <Text size="xs" c="dimmed" fw={500} px="xs">
            {title}
          </Text>
          {sections.map((section) => (
            <SectionLink
              key={section.label}
              section={section}
              organization={organization}
              isCurrent={section === current}
            />
          ))}
        </Stack>
      ))}
    </Stack>
  )
}

type SectionLinkProps = { section: SettingsSection; organization: Organization; isCurrent: boolean }

/** Somebody without the permission sees a lock, and the reason on the page behind the link. */
function SectionLink({ section, organization, isCurrent }: SectionLinkProps) {
  const { label, page, icon: Icon, permission } = section
  const isLocked = !organization.permissions.includes(permission)
  const reason = `Needs the permission “${PERMISSION_NAMES[permission]}”`
  return (
    <Tooltip label={reason} disabled={!isLocked} position="right">
      <NavLink
        renderRoot={(props) => <Link {...page(organization.slug)} {...props} />}
        label={label}
        leftSection={<Icon size={16} aria-hidden />}
        rightSection={isLocked && <IconLock size={14} role="img" aria-label={reason} />}
        active={isCurrent}
        aria-current={isCurrent ? 'page' : undefined}
        className={classes.item}
        c={isLocked ? 'dimmed' : undefined}
      />
    </Tooltip>
  )
}

function SelectMenu({ organization, current }: MenuProps) {
  const navigate = useNavigate()
  const open = (address: string) => void navigate({ to: address })
  return (
    <NativeSelect
      className={classes.select}
      label="Settings"
      value={current ? formatAddress(current.page(organization.slug)) : ''}
      onChange={({ currentTarget }) => open(currentTarget.value)}
      data={SETTINGS.map(({ title, sections }) => ({
        group: title,
        items: sections.map(({ label, page, permission }) => ({
          value: formatAddress(page(organization.slug)),
          label: organization.permissions.includes(permission) ? label : `${label} (no permission)`,
        })),
      }))}
    />
  )
}

type SettingsSection = {
  label: string
  page: (org: string) => PageAddress
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** Who may open the page. */
  permission: Permission
}
