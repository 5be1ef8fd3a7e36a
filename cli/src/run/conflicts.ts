import type { components } from '@shiplock/sdk'
import type { CiJob } from '../ci/ci-job.ts'

type CiRun = components['schemas']['CiRun']

/** What a report or a gate is about: a run that differs is refused with 409 `run_mismatch`. */
export type Expect = { repository?: string; commit_sha?: string }

type About = { repository: string; commit_sha: string }
type Field = keyof About

/** Another run has this number. */
export class ConflictError extends Error {}

/**
 * Throws `ConflictError` if the run that the API has under this number is about another repository or
 * commit (ci-evidence §1), unless it is adopted. Of a merge commit and its head, which the CI names
 * both, either is the right one. Returns what the run is about.
 */
export function checkConflicts(stored: CiRun, sent: About, { adopt, ci }: { adopt: boolean; ci: CiJob | null }): About {
  const named = [ci?.commit_sha, ci?.head_sha]
  const isSameChange = named.includes(stored.commit_sha) && named.includes(sent.commit_sha)
  const { conflicts = [] } = stored
  const wrong = conflicts.filter((field) => field === 'repository' || !isSameChange)
  if (wrong.length > 0 && !adopt) throw new ConflictError(describeConflicts(stored, sent, wrong))
  const { repository, commit_sha } = sent
  return { repository, commit_sha, ...Object.fromEntries(conflicts.map((field) => [field, stored[field]])) }
}

const NAMES = { repository: 'repository', commit_sha: 'commit' }

function describeConflicts(stored: CiRun, sent: About, fields: Field[]): string {
  const differences = fields.map((field) => `the ${NAMES[field]} is ${stored[field]}, not ${sent[field]}`)
  const { ci_system, external_run_id } = stored
  return `The server knows the run ${external_run_id} of ${ci_system} as another one: ${differences.join(', and ')}. Another CI server may have the same number: name yours with --ci-instance, or go on with --adopt`
}
