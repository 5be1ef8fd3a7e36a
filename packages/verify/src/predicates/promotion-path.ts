import { readPosition } from '../chain-link.ts'
import { type Checks, Refused } from '../checks.ts'
import { commitSubject, type Statement } from '../statement.ts'
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
  const repository = predicate.object('repository')
  const name = `git+https://${repository.string('host')}/${repository.string('full_name')}`
  const subject = commitSubject(statement)
  const commit = predicate.string('commit')
  if (subject.sha !== commit) throw new Refused(`the subject is commit ${subject.sha}, and the path is of ${commit}`)
  if (subject.name !== name) throw new Refused(`the subject is ${subject.name}, and the path is of ${name}`)
  return `commit ${commit} of ${name}`
}

/** The other subjects are the artifacts of the path, and all of them. */
function checkArtifacts({ subjects, predicate }: Statement): string {
  const stated = new Set(subjects.flatMap(({ digest }) => (digest.gitCommit ? [] : [digest.sha256])))
  const listed = new Set(predicate.objects('artifacts').map((artifact) => artifact.string('sha256')))
  const different = [...stated.symmetricDifference(listed)]
  if (different.length > 0)
    throw new Refused(
      `the subjects and the artifacts of the path differ (${different[0] ?? 'a subject without a SHA-256'})`,
    )
  return listed.size === 0 ? 'none' : `${listed.size}, all of them subjects`
}

function checkChange({ predicate }: Statement): string {
  if (!predicate.has('change')) return 'none: the statement names no change record'
  const change = predicate.object('change')
  const id = change.string('id')
  if (!change.has('record')) return `${id}, whose record is not stated`
  return `${id}, link ${readPosition(change.object('chain')).index} of its chain`
}
