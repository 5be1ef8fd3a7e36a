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

export type SettingsSection = {
  label: string
  /** The part of the address behind `settings/`. */
  path: string
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** Who may open the page. */
  permission: Permission
}

/** The pages of the settings, in groups. */
export const SETTINGS: { title: string; sections: SettingsSection[] }[] = [
  {
    title: 'Organization',
    sections: [
      { label: 'General', path: 'general', icon: IconBuilding, permission: 'view' },
      { label: 'Members', path: 'members', icon: IconUsers, permission: 'manage_members' },
      { label: 'Roles', path: 'roles', icon: IconUserShield, permission: 'manage_members' },
      { label: 'Single sign-on', path: 'single-sign-on', icon: IconLogin2, permission: 'manage_members' },
    ],
  },
  {
    title: 'Integrations',
    sections: [
      { label: 'API keys', path: 'api-keys', icon: IconKey, permission: 'manage_integrations' },
      { label: 'OIDC trusts', path: 'oidc-trusts', icon: IconFingerprint, permission: 'manage_integrations' },
      { label: 'Code hosts', path: 'code-hosts', icon: IconGitBranch, permission: 'manage_integrations' },
    ],
  },
  {
    title: 'Governance',
    sections: [
      { label: 'Gates', path: 'gates', icon: IconShieldCheck, permission: 'view' },
      { label: 'Plan and usage', path: 'usage', icon: IconChartBar, permission: 'view' },
      { label: 'Audit log', path: 'audit-log', icon: IconHistory, permission: 'read_audit_log' },
    ],
  },
]
