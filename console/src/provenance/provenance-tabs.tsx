import { PageTab, PageTabs } from '../page/page-tabs.tsx'
import { pages } from '../page/pages.ts'

const TABS = [
  ['Changes', pages.changes],
  ['Lineage', pages.lineages],
  ['Signing keys', pages.keys],
] as const

/** The pages of provenance. */
export function ProvenanceTabs({ org }: { org: string }) {
  return (
    <PageTabs label="Provenance">
      {TABS.map(([label, page]) => (
        <PageTab key={label} {...page(org)} activeOptions={{ exact: true, includeSearch: false }}>
          {label}
        </PageTab>
      ))}
    </PageTabs>
  )
}
