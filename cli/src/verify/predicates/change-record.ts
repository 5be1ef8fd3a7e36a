import { type ChainPosition, checkLink, isNamed, type NamedBreak, readBreaks, readPosition } from '../chain-link.ts'
import { type Checks, Refused } from '../checks.ts'
import type { Fields } from '../fields.ts'
import { commitSubject, type Statement } from '../statement.ts'
import { describeChange } from './describe-change.ts'

/** A change record: what landed on a branch, and its link in the chain of the repository. */
export const changeRecord = {
  what: 'a change record, version 1',
  check(checks: Checks, statement: Statement): void {
    checks.run('subject', () => checkSubject(statement), String)
    checks.run('chain', () => checkRecord(statement.predicate), String)
    checks.run('amendments', () => checkAmendments(statement.predicate), String)
  },
  describe: ({ predicate }: Statement): string[] => describeChange(predicate),
}

/** The subject is the commit that the change ends with, in the repository of the record. */
function checkSubject(statement: Statement): string {
  const record = statement.predicate.object('record')
  const merge = record.object('commits').string('merge')
  const repository = record.object('repository')
  const name = `git+https://${repository.string('host')}/${repository.string('full_name')}`
  const subject = commitSubject(statement)
  if (subject.sha !== merge) throw new Refused(`the subject is commit ${subject.sha}, and the record is about ${merge}`)
  if (subject.name !== name) throw new Refused(`the subject is ${subject.name}, and the record is about ${name}`)
  return `commit ${merge} of ${name}`
}

function checkRecord(predicate: Fields): string {
  const position = readPosition(predicate.object('chain'))
  const breaks = readBreaks(predicate)
  const isRight = checkLink(position, predicate.object('record').json, { what: 'the record', breaks })
  const hash = isRight ? 'its hash is right' : 'its hash is wrong: the statement names this break'
  return `the record is link ${position.index} of its chain, and ${hash}`
}

/** Amendments follow their record in the same chain. */
function checkAmendments(predicate: Fields): string {
  const amendments = predicate.objects('amendments')
  const change = { id: predicate.object('record').string('id'), breaks: readBreaks(predicate) }
  let last = readPosition(predicate.object('chain'))
  let areRight = true
  for (const amendment of amendments) {
    const { position, isRight } = checkAmendment(amendment, change, last)
    last = position
    areRight &&= isRight
  }
  if (amendments.length === 0) return 'none'
  const hashes = areRight ? 'their hashes are right' : 'the statement names the breaks of their hashes'
  return `${amendments.length}, up to link ${last.index} of the chain, and ${hashes}`
}

type AmendedChange = { id: string; breaks: readonly NamedBreak[] }

function checkAmendment(amendment: Fields, { id, breaks }: AmendedChange, last: ChainPosition) {
  const { chain: _, ...body } = amendment.only(['change', 'at', 'kind', 'facts', 'chain']).json
  const position = readPosition(amendment.object('chain'))
  const { index, previous } = position
  if (amendment.string('change') !== id) throw new Refused(`an amendment is about another change than ${id}`)
  if (index <= last.index) throw new Refused('the amendments are not in the order of the chain')
  const follows = index > last.index + 1 || previous === last.hash
  if (!follows && !isNamed(breaks, { index, expected: last.hash, found: previous ?? '' }))
    throw new Refused(`link ${index} does not follow link ${last.index}`)
  const isRight = checkLink(position, body, { what: `the amendment at link ${index}`, breaks })
  return { position, isRight: follows && isRight }
}
