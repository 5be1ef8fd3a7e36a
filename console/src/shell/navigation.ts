import {
  IconBell,
  IconBug,
  IconClipboardCheck,
  IconGitCommit,
  IconHome,
  IconListSearch,
  IconPackages,
  IconPlayerPlay,
  IconRocket,
  IconSettings,
  IconUpload,
} from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { type PageAddress, pages } from '../page/pages.ts'

/** The main pages, in the order of the sidebar, by what they are about. */
export const NAVIGATION: { title: string | null; items: NavigationItem[] }[] = [
  {
    title: null,
    items: [
      { label: 'Home', page: pages.home, icon: IconHome, key: 'h' },
      { label: 'Runs', page: pages.runs, icon: IconPlayerPlay, key: 'r' },
      { label: 'Deployments', page: pages.deployments, icon: IconRocket, key: 'd' },
    ],
  },
  {
    title: 'Security',
    items: [
      { label: 'Issues', page: pages.issues, icon: IconBug, key: 'i' },
      { label: 'Findings', page: pages.findings, icon: IconListSearch, key: 'f' },
      { label: 'Alerts', page: pages.alerts, icon: IconBell, key: 'a' },
      { label: 'Inventory', page: pages.components, icon: IconPackages, key: 'n' },
      { label: 'Uploads', page: pages.uploads, icon: IconUpload, key: 'u' },
    ],
  },
  {
    title: 'Governance',
    items: [
      { label: 'Compliance', page: pages.results, icon: IconClipboardCheck, key: 'c' },
      { label: 'Provenance', page: pages.changes, icon: IconGitCommit, key: 'p' },
      { label: 'Settings', page: pages.settings, icon: IconSettings, key: 's' },
    ],
  },
]

export const MAIN_PAGES = NAVIGATION.flatMap(({ items }) => items)
const KEY = 'shiplock-organization'

type NavigationItem = {
  label: string
  page: (org: string) => PageAddress
  icon: ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
  /** The second key of `g …`. */
  key: string
}

/** Remembers in this browser which organization was open. */
export function rememberOrganization(slug: string): void {
  localStorage.setItem(KEY, slug)
}

/** Of the organizations of the user, the one that was open last; else the first. */
export function lastOrganization<Known extends { slug: string }>(organizations: Known[]): Known | undefined {
  const slug = localStorage.getItem(KEY)
  return organizations.find((organization) => organization.slug === slug) ?? organizations[0]
}
