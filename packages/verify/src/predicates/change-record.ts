import { type ChainPosition, checkLink, isNamed, type NamedBreak, readBreaks, readPosition } from '../chain-link.ts'
import { type Checks, Refused } from '../checks.ts'
import type { Fields } from '../fields.ts'
import { commitSubject, type Statement } from '../statement.ts'
import { describeChange } from './describe-change.ts'

export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

/** A change record: what landed on a branch, and its link in the chain of the repository. */
export const changeRecord = {
  what: 'a change record, version 1',
  async check(checks: Checks, statement: Statement): Promise<void> {
    const { predicate } = statement
    await checks.run(
      'subject',
      () => checkChangeSubject(statement),
      ({ sha, name }) => `commit ${sha} of ${name}`,
    )
    await checks.run('chain', () => checkRecord(predicate), describeRecord)
    await checks.run('amendments', () => checkAmendments(predicate), describeAmendments)
  },
  describe: ({ predicate }: Statement): string[] => describeChange(predicate),
}

/** Where Git finds a repository. Azure DevOps has `_git` before the name. */
export function formatCloneUri(repository: Fields): string {
  const [host, name] = [repository.string('host'), repository.string('full_name')]
  const [, project, last] = /^([^/]+\/[^/]+)\/([^/]+)$/.exec(host === 'dev.azure.com' ? name : '') ?? []
  return `git+https://${host}/${project === undefined ? name : `${project}/_git/${last}`}`
}

/** The subject is the commit that the change ends with, in the repository of the record. */
export function checkChangeSubject(statement: Statement): { name: string; sha: string } {
  const record = statement.predicate.object('record')
  const merge = record.object('commits').string('merge')
  const name = formatCloneUri(record.object('repository'))
  const subject = commitSubject(statement)
  if (subject.sha !== merge) throw new Refused(`the subject is commit ${subject.sha}, and the record is about ${merge}`)
  if (subject.name !== name) throw new Refused(`the subject is ${subject.name}, and the record is about ${name}`)
  return subject
}

/** `isRight` is false for a hash that is wrong, where the statement names this break. */
type Link = { position: ChainPosition; isRight: boolean }

/** Checks the record's own link (docs/changes.md, "Hash chain"). */
export async function checkRecord(predicate: Fields): Promise<Link> {
  const position = readPosition(predicate.object('chain'))
  const breaks = readBreaks(predicate)
  const isRight = await checkLink(position, predicate.object('record').json, { what: 'the record', breaks })
  return { position, isRight }
}

function describeRecord({ position, isRight }: Link): string {
  const hash = isRight ? 'its hash is right' : 'its hash is wrong: the statement names this break'
  return `the record is link ${position.index} of its chain, and ${hash}`
}

/** Amendments follow their record in the same chain. Returns their links. */
export async function checkAmendments(predicate: Fields): Promise<Link[]> {
  const change = { id: predicate.object('record').string('id'), breaks: readBreaks(predicate) }
  const links: Link[] = []
  let last = readPosition(predicate.object('chain'))
  for (const amendment of predicate.objects('amendments')) {
    const link = await checkAmendment(amendment, change, last)
    last = link.position
    links.push(link)
  }
  return links
}

function describeAmendments(links: readonly Link[]): string {
  const last = links.at(-1)
  if (last === undefined) return 'none'
  const areRight = links.every(({ isRight }) => isRight)
  const hashes = areRight ? 'their hashes are right' : 'the statement names the breaks of their hashes'
  return `${links.length}, up to link ${last.position.index} of the chain, and ${hashes}`
}

type AmendedChange = { id: string; breaks: readonly NamedBreak[] }

async function checkAmendment(amendment: Fields, { id, breaks }: AmendedChange, last: ChainPosition): Promise<Link> {
  const { chain: _, ...body } = amendment.only(['change', 'at', 'kind', 'facts', 'chain']).json
  const position = readPosition(amendment.object('chain'))
  const { index, previous } = position
  if (amendment.string('change') !== id) throw new Refused(`an amendment is about another change than ${id}`)
  if (index <= last.index) throw new Refused('the amendments are not in the order of the chain')
  const follows = index > last.index + 1 || previous === last.hash
  if (!follows && !isNamed(breaks, { index, expected: last.hash, found: previous ?? '' }))
    throw new Refused(`link ${index} does not follow link ${last.index}`)
  const isRight = await checkLink(position, body, { what: `the amendment at link ${index}`, breaks })
  return { position, isRight: follows && isRight }
}
