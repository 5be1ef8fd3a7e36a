import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { TestLog } from '../../packages/verify/test/support/log.ts'
import {
  changeStatement,
  dataOf,
  makeKey,
  sha256,
  signStatement,
} from '../../packages/verify/test/support/statements.ts'
import { verifyWith } from '../../packages/verify/test/support/verify.ts'
import { reportOf } from '../src/commands/verification-report.ts'

const key = makeKey()
const envelope = signStatement(key, changeStatement())
const log = new TestLog()
const index = log.add('statement', sha256(Buffer.from(envelope.payload, 'base64')))
const verification = await verifyWith({ key, log }, dataOf(envelope, log.proof(index, 1)))
/** What a terminal shows. */
const shown = (columns: number) => stripVTControlCharacters(reportOf(verification, columns))
const words = (text: string) => text.split(/\s+/)

test('a terminal of 80 columns shows every line without breaking a word', () => {
  const lines = shown(80).split('\n')
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  assert.ok(lines.some((line) => /^ {8}\S/.test(line)))
  assert.deepEqual(words(shown(80)), words(reportOf(verification, null)))
})

test('without a terminal, and on a wide one, every check has one line', () => {
  assert.equal(shown(1000), reportOf(verification, null))
  const { length } = verification.checks.filter(({ ok }) => ok)
  assert.equal(reportOf(verification, null).match(/^ok {6}/gm)?.length, length)
})
