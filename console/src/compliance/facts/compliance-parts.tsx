import { IconEye, IconShieldCheck } from '@tabler/icons-react'
import { ToneBadge } from '../../page/badges.tsx'
import { PageTab, PageTabs } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import type { Policy } from './vocabulary.ts'

const TABS = [
  ['Results', pages.results],
  ['Policies', pages.policies],
] as const

/** Switches between the two lists of this topic. */
export function ComplianceTabs({ org }: { org: string }) {
  return (
    <PageTabs label="Compliance">
      {TABS.map(([label, page]) => (
        <PageTab key={label} {...page(org)} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </PageTab>
      ))}
    </PageTabs>
  )
}

/** Whether a policy can block a deployment. */
export function ModeBadge({ mode }: { mode: Policy['mode'] }) {
  return mode === 'enforce' ? (
    <ToneBadge tone="running" icon={IconShieldCheck}>
      Enforce
    </ToneBadge>
  ) : (
    <ToneBadge tone="neutral" icon={IconEye}>
      Monitor
    </ToneBadge>
  )
}
