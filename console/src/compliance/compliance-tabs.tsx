import { PageTab, PageTabs } from '../page/page-tabs.tsx'
import { pages } from '../page/pages.ts'

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
