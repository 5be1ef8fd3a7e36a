import {
  IconBell,
  IconBug,
  IconClipboardCheck,
  IconGitCommit,
  IconHome,
  IconListSearch,
  IconPlayerPlay,
  IconRocket,
  IconSettings,
  IconUpload,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'

type NavigationItem = {
  label: string
  to: string
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** The second key of `g …`. */
  key: string
}

/** The main pages, in the order of the sidebar, by what they are about. */
export const NAVIGATION: { title: string | null; items: NavigationItem[] }[] = [
  {
    title: null,
    items: [
      { label: 'Home', to: '/orgs/$org', icon: IconHome, key: 'h' },
      { label: 'Runs', to: '/orgs/$org/runs', icon: IconPlayerPlay, key: 'r' },
      { label: 'Deployments', to: '/orgs/$org/deployments', icon: IconRocket, key: 'd' },
    ],
  },
  {
    title: 'Security',
    items: [
      { label: 'Issues', to: '/orgs/$org/security/issues', icon: IconBug, key: 'i' },
      { label: 'Findings', to: '/orgs/$org/security/findings', icon: IconListSearch, key: 'f' },
      { label: 'Alerts', to: '/orgs/$org/security/alerts', icon: IconBell, key: 'a' },
      { label: 'Uploads', to: '/orgs/$org/security/uploads', icon: IconUpload, key: 'u' },
    ],
  },
  {
    title: 'Governance',
    items: [
      { label: 'Compliance', to: '/orgs/$org/compliance', icon: IconClipboardCheck, key: 'c' },
      { label: 'Provenance', to: '/orgs/$org/provenance', icon: IconGitCommit, key: 'p' },
      { label: 'Settings', to: '/orgs/$org/settings', icon: IconSettings, key: 's' },
    ],
  },
]

export const MAIN_PAGES = NAVIGATION.flatMap(({ items }) => items)
