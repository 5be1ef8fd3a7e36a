import { PageTab, PageTabs } from '../page/page-tabs.tsx'

const TABS = [
  ['Changes', '/orgs/$org/provenance'],
  ['Lineage', '/orgs/$org/provenance/lineage'],
  ['Signing keys', '/orgs/$org/provenance/keys'],
] as const

/** The pages of provenance. */
export function ProvenanceTabs({ org }: { org: string }) {
  return (
    <PageTabs label="Provenance">
      {TABS.map(([label, to]) => (
        <PageTab key={to} to={to} params={{ org }} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </PageTab>
      ))}
    </PageTabs>
  )
}
