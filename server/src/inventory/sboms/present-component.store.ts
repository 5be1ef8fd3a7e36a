import type { Db } from '../../platform/db/sql.ts'
import type { ComponentFacts } from './sbom.ts'

/** A component in the newest document of a stream. */
export type PresentComponent = Pick<ComponentFacts, 'type' | 'scope' | 'licenses' | 'supplier' | 'hashes' | 'path'> & {
  no: number
  purl: string | null
  cpe: string | null
  namespace: string | null
  name: string
  version: string | null
  category: string | null
  /** The component that brings it in. Null is the root if `direct`, else it is not known. */
  parent_no: number | null
  direct: boolean | null
  reported_at: Date
}

type Selection = { repositoryNos: readonly number[]; category: string | undefined; limit: number }

/**
 * What the newest documents about the tracked branches of repositories contain, one row for each
 * stream that has it. What code of strangers may have sent does not count.
 */
export async function listPresentComponents(
  db: Db,
  orgId: string,
  { repositoryNos, category, limit }: Selection,
): Promise<PresentComponent[]> {
  return db<PresentComponent[]>`
    select component.no, component.purl, component.cpe, component.namespace, component.name, component.version,
      facts.type, facts.scope, facts.licenses, facts.supplier, facts.hashes, facts.path, stream.category,
      parent.component_no as parent_no, stream.parents[place] = -1 as direct, stream.reported_at
    from inventory_streams stream
    cross join unnest(stream.present) with ordinality as item (facts_no, place)
    join component_facts facts on facts.org_id = ${orgId} and facts.no = item.facts_no
    join components component on component.org_id = ${orgId} and component.no = facts.component_no
    left join component_facts parent on parent.org_id = ${orgId}
      and stream.parents[place] >= 0
      and parent.no = stream.present[stream.parents[place] + 1]
    where stream.org_id = ${orgId}
      and stream.repository_no = any(${[...repositoryNos]}::bigint[])
      and stream.tracked
      and stream.lane <> 'untrusted'
      and stream.ended_at is null
      ${category === undefined ? db`` : db`and stream.category = ${category}`}
    order by component.no, stream.id, facts.no
    limit ${limit}`
}
