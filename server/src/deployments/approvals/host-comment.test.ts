import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostComment } from './host-comment.ts'

const ANSWER = {
  id: '1',
  principal_type: 'api_key',
  principal_id: '2',
  principal_name: 'release bot',
  decision: 'approved',
  reason: 'It was announced.',
  comment: null,
  answered_at: new Date(0),
} as const

test('a comment says that a key answered and repeats the reason', () => {
  const text = 'Approved through Shiplock by the API key **release bot**, not by a person.\n\n> It was announced.'
  assert.equal(hostComment(ANSWER), text)
})

test('what the caller wrote stays a quotation, line by line', () => {
  const reason = 'One\n# Two\r\n- three'
  assert.ok(hostComment({ ...ANSWER, reason }).endsWith('\n\n> One\n> # Two\n> - three'))
  assert.ok(hostComment({ ...ANSWER, comment: 'a\n\n**b**' }).endsWith('\n\n> a\n> \n> **b**'))
})

test('the name of a key is no markup', () => {
  const text = hostComment({ ...ANSWER, principal_name: '**x** [y](z) <b>' })
  assert.ok(text.includes('**\\*\\*x\\*\\* \\[y\\]\\(z\\) \\<b\\>**'), text)
})
