import { PageTab, PageTabs } from '../page/page-tabs.tsx'

const TABS = [
  ['Results', '/orgs/$org/compliance'],
  ['Policies', '/orgs/$org/compliance/policies'],
] as const

/** Switches between the two lists of this topic. */
export function ComplianceTabs({ org }: { org: string }) {
  return (
    <PageTabs label="Compliance">
      {TABS.map(([label, to]) => (
        <PageTab key={to} to={to} params={{ org }} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </PageTab>
      ))}
    </PageTabs>
  )
}
