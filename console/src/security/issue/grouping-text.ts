import type { Schema } from '../../api/client.ts'
import { countTargets } from '../triage/targets.ts'

type Match = Schema<'IssueExplanation'>['members'][number]['matches'][number]

const SHARED: Record<Match['on'], string> = {
  vulnerability: 'the vulnerability',
  rule: 'the rule',
  secret: 'the secret',
  secret_and_lines: 'the secret and the lines',
  fingerprint: 'the fingerprint',
  weakness_and_code: 'the weakness and the code',
  weakness_and_lines: 'the weakness and the lines',
  weakness_and_resource: 'the weakness and the resource',
}

/** What a finding shares with others of the issue. */
export function matchText({ on, value, with_count }: Match): string {
  return `Shares ${SHARED[on]}${value === null ? '' : ` ${value}`} with ${countTargets('finding', with_count)}.`
}

/** By which names of a vulnerability two ids are the same. Null if they are the same id. */
export function aliasText(path: Match['alias_path']): string | null {
  if (path.length === 0) return null
  return path.map(({ from, to, source }) => `${from} is ${to} according to ${source}.`).join(' ')
}
