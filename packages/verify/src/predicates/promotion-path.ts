import { readPosition } from '../chain-link.ts'
import { type Checks, Refused } from '../checks.ts'
import type { Fields } from '../fields.ts'
import { findCommitSubject, type Statement } from '../statement.ts'
import { formatCloneUri } from './change-record.ts'
import { describePath } from './describe-path.ts'

/** The path of a commit from its change to a deployment. */
export const promotionPath = {
  what: 'a promotion path, version 1',
  async check(checks: Checks, statement: Statement): Promise<void> {
    await checks.run('subject', () => checkCommit(statement), String)
    await checks.run('artifacts', () => checkArtifacts(statement), String)
    await checks.run('change', () => checkChange(statement), String)
  },
  describe: ({ predicate }: Statement): string[] => describePath(predicate),
}

function checkCommit(statement: Statement): string {
  const { predicate } = statement
  const name = formatCloneUri(predicate.object('repository'))
  const commit = predicate.string('commit')
  const trust = predicate.has('commit_trust') ? predicate.string('commit_trust') : 'verified'
  const subject = findCommitSubject(statement)
  if (subject === null && trust !== 'verified') return `not commit ${commit}, which is only ${trust}`
  if (subject === null) throw new Refused('the statement must have one commit as a subject')
  if ((subject.trust ?? 'verified') !== trust)
    throw new Refused(`the subject is ${subject.trust ?? 'verified'}, and the commit of the path is ${trust}`)
  if (subject.sha !== commit) throw new Refused(`the subject is commit ${subject.sha}, and the path is of ${commit}`)
  if (subject.name !== name) throw new Refused(`the subject is ${subject.name}, and the path is of ${name}`)
  return `commit ${commit} of ${name}`
}

/**
 * The other subjects are the verified artifacts and reported subjects of the path that were complete
 * when the deployment was decided, the newest of each path or name, and the verified ones that its gate
 * was opened with; in statements of earlier versions all artifacts.
 */
function checkArtifacts({ subjects, predicate }: Statement): string {
  const stated = new Set(subjects.flatMap(({ digest }) => (digest.gitCommit ? [] : [digest.sha256])))
  const artifacts = predicate.objects('artifacts')
  const named = predicate.has('subjects') ? predicate.objects('subjects') : []
  const isOf = (source: string) => (subject: Fields) => subject.string('source') === source
  const deciding = predicate.has('decided_at')
    ? [
        ...selectVerified(predicate, artifacts, { name: 'path', time: 'completed_at' }),
        ...selectVerified(predicate, named.filter(isOf('report')), { name: 'name', time: 'stated_at' }),
        ...named.filter(isOf('gate')).filter((subject) => subject.string('trust') === 'verified'),
      ]
    : artifacts
  const listed = new Set(deciding.map(sha256Of))
  const different = [...stated.symmetricDifference(listed)]
  if (different.length > 0)
    throw new Refused(
      `the subjects and the artifacts of the path differ (${different[0] ?? 'a subject without a SHA-256'})`,
    )
  return listed.size === 0 ? 'none' : `${listed.size}, all of them subjects`
}

const sha256Of = (artifact: Fields) => artifact.string('sha256')

/** The members of an item that have its name, and its time. */
type Members = { name: string; time: string }

function selectVerified(predicate: Fields, items: Fields[], { name, time }: Members): Fields[] {
  const decidedAt = Date.parse(predicate.string('decided_at'))
  const newest = new Map<string, Fields>()
  const readTime = (item: Fields) => Date.parse(item.string(time))
  const compareAge = (a: Fields, b: Fields) => a.count('attempt') - b.count('attempt') || readTime(a) - readTime(b)
  for (const item of items) {
    if (readTime(item) > decidedAt || item.string('trust') !== 'verified') continue
    const other = newest.get(item.string(name))
    if (other === undefined || compareAge(item, other) >= 0) newest.set(item.string(name), item)
  }
  return [...newest.values()]
}

function checkChange({ predicate }: Statement): string {
  if (!predicate.has('change')) return 'none: the statement names no change record'
  const change = predicate.object('change')
  const id = change.string('id')
  if (!change.has('record')) return `${id}, whose record is not stated`
  return `${id}, link ${readPosition(change.object('chain')).index} of its chain`
}
