import { computeBucket } from '../../src/security/issues/grouping/bucket.ts'
import type { GroupingFacts, Member } from '../../src/security/issues/grouping/grouping-facts.ts'
import { RULES } from './rule-names.ts'

let made = 0

/**
 * What grouping looks at of a code finding; `fields` replace members. Its fingerprint is its own
 * unless given.
 */
export function factsOf(fields: Partial<GroupingFacts> = {}): GroupingFacts {
  made += 1
  return {
    ...{
      kind: 'code',
      tool: 'Scanner',
      stream_id: made,
      is_alert: false,
      path: 'src/db.ts',
      start_line: null,
      end_line: null,
      start_column: null,
      end_column: null,
    },
    ...{ package_name: null, purl: null, message: null },
    ...{ vuln_ids: [], cwes: [], rule_id: null, secret_type: null, resource_name: null, context: null, told: null },
    fingerprint: `fingerprint ${made}`,
    ...fields,
  }
}

/** The same of a finding in a package. */
export function packageFacts(vulnIds: string[], fields: Partial<GroupingFacts> = {}): GroupingFacts {
  const purl = fields.purl ?? null
  return factsOf({ kind: 'dependency', path: null, package_name: 'lodash', vuln_ids: vulnIds, ...fields, purl })
}

/** A finding that is stored under an id, in an issue; or a new one. */
export function memberOf(facts: GroupingFacts, id: string | null = null, issueId: string | null = null): Member {
  return {
    ...facts,
    ...{ id, issue_id: issueId, bucket: computeBucket(facts, RULES), position: id === null ? made : null },
    ...{ grouping_code: null, grouping_detail: null, severity: 'high', is_open: true, is_tracked: true },
  }
}
