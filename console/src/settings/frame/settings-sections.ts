import {
  IconBuilding,
  IconChartBar,
  IconFingerprint,
  IconGitBranch,
  IconHistory,
  IconKey,
  IconLogin2,
  IconShieldCheck,
  IconUserShield,
  IconUsers,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import type { Permission } from '../../api/session.ts'
import { type PageAddress, pages } from '../../page/pages.ts'

export type SettingsSection = {
  label: string
  page: (org: string) => PageAddress
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** Who may open the page. */
  permission: Permission
}

/** The pages of the settings, in groups. */
export const SETTINGS: { title: string; sections: SettingsSection[] }[] = [
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
      { label: 'Plan and usage', page: pages.usage, icon: IconChartBar, permission: 'view' },
      { label: 'Audit log', page: pages.auditLog, icon: IconHistory, permission: 'read_audit_log' },
    ],
  },
]
