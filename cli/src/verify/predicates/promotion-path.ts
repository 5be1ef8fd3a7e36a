import type { Checks } from '../checks.ts'
import { Refused } from '../refused.ts'
import { commitSubject, type Statement } from '../statement.ts'
import { describeBreaks } from './describe-change.ts'

/** The path of a commit from its change to a deployment. */
export const promotionPath = {
  what: 'a promotion path',
  check(checks: Checks, statement: Statement): void {
    checks.run('subject', () => checkSubjects(statement), String)
  },
  describe: ({ predicate }: Statement): string[] => describeBreaks(predicate),
}

/** Every subject is named in the path: the commit, and the artifacts of the run. */
function checkSubjects(statement: Statement): string {
  const named = stringsIn(statement.predicate.json)
  for (const { name, digest } of statement.subjects) {
    const missing = Object.values(digest).find((hex) => !named.has(hex))
    if (missing !== undefined) throw new Refused(`the path does not name the subject ${name} (${missing})`)
  }
  const artifacts = statement.subjects.length - 1
  return `commit ${commitSubject(statement).sha} and ${artifacts} ${artifacts === 1 ? 'artifact' : 'artifacts'}`
}

/** Adds all strings of a JSON value to `found`. */
function stringsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string') found.add(value)
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) stringsIn(item, found)
  return found
}
