import type { Severity } from '../../vocabulary/severity.ts'
import type { Placed } from './assign-issues.ts'
import type { GroupingCode, GroupingFacts } from './grouping-facts.ts'

/** A finding as grouping sees it: one that is stored, or one of the report at hand. */
export type Member = GroupingFacts &
  Placed & {
    bucket: string
    /** Its place in the report; null where the report does not hold it or says nothing new of it. */
    position: number | null
    /** Its stored reason. */
    grouping_code: GroupingCode | null
    grouping_detail: string | null
    severity: Severity
    is_open: boolean
    is_tracked: boolean
  }
