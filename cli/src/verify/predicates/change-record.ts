import { type ChainPosition, checkLink, readPosition } from '../chain-link.ts'
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
  checkLink(position, predicate.object('record').json, 'the record')
  return `the record is link ${position.index} of its chain, and its hash is right`
}

/** Amendments follow their record in the same chain. */
function checkAmendments(predicate: Fields): string {
  const change = predicate.object('record').string('id')
  let last = readPosition(predicate.object('chain'))
  const amendments = predicate.objects('amendments')
  for (const amendment of amendments) last = checkAmendment(amendment, change, last)
  if (amendments.length === 0) return 'none'
  return `${amendments.length}, up to link ${last.index} of the chain, and their hashes are right`
}

function checkAmendment(amendment: Fields, change: string, last: ChainPosition): ChainPosition {
  const { chain: _, ...body } = amendment.only(['change', 'at', 'kind', 'facts', 'chain']).json
  const position = readPosition(amendment.object('chain'))
  if (amendment.string('change') !== change) throw new Refused(`an amendment is about another change than ${change}`)
  if (position.index <= last.index) throw new Refused('the amendments are not in the order of the chain')
  if (position.index === last.index + 1 && position.previous !== last.hash)
    throw new Refused(`link ${position.index} does not follow link ${last.index}`)
  checkLink(position, body, `the amendment at link ${position.index}`)
  return position
}
