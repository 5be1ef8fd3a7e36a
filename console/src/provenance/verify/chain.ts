import type { Schema } from '../../api/client.ts'
import { canonicalJson, fromHex, sha256, toHex, utf8 } from './bytes.ts'
import { commitOf, type Json, Refused, type Statement } from './statement.ts'

type Position = Schema<'Change'>['chain']
type Break = { index: number; expected: string; found: string | null; acknowledged_at: string | null }
type Amendment = { change: string; chain: Position }
type ChangePredicate = {
  record: Json & { id: string; commits: { merge: string }; repository: { host: string; full_name: string } }
  chain: Position
  amendments: Amendment[]
  breaks?: Break[]
}

const NO_LINK = '00'.repeat(32)

/** The subject of a change record is the commit that the change ends with. */
export function checkChangeSubject(statement: Statement): string {
  const { record } = statement.predicate as unknown as ChangePredicate
  const { sha, name } = commitOf(statement)
  const expected = `git+https://${record.repository.host}/${record.repository.full_name}`
  if (sha !== record.commits.merge || name !== expected)
    throw new Refused(
      `The subject is ${sha} of ${name}, and the record is about ${record.commits.merge} of ${expected}.`,
    )
  return sha
}

/** Each link covers the hash of the link before it and the canonical body (docs/changes.md, "Hash chain"). */
export async function checkChain({ predicate }: Statement): Promise<{ links: number; breaks: number }> {
  const { record, chain, amendments, breaks = [] } = predicate as unknown as ChangePredicate
  let named = (await isLink(record, chain, { what: 'the record', breaks })) ? 0 : 1
  let last = chain
  for (const { chain: position, ...body } of amendments) {
    if (body.change !== record.id || position.index <= last.index)
      throw new Refused('The amendments do not follow the record in the chain.')
    if (position.index === last.index + 1 && position.previous_hash !== last.hash)
      throw new Refused(`Link ${position.index} does not follow link ${last.index}.`)
    const what = `the amendment at link ${position.index}`
    if (!(await isLink(body, position, { what, breaks }))) named++
    last = position
  }
  return { links: amendments.length + 1, breaks: named }
}

/** False for a hash that is wrong, where the statement names this break. */
async function isLink(
  body: unknown,
  { index, hash, previous_hash }: Position,
  { what, breaks }: { what: string; breaks: Break[] },
): Promise<boolean> {
  const computed = toHex(await sha256(fromHex(previous_hash ?? NO_LINK), utf8(canonicalJson(body))))
  if (computed === hash) return true
  const isNamed = breaks.some(
    (one) => one.acknowledged_at !== null && one.index === index && one.expected === hash && one.found === computed,
  )
  if (isNamed) return false
  throw new Refused(`The hash of ${what} is ${computed}, and the chain has ${hash}.`)
}
