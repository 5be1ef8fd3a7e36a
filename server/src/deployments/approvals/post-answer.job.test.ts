import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commentText } from './post-answer.job.ts'

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

test('the comment states that an API key answered and quotes its reason', () => {
  const text = 'Approved through Shiplock by the API key **release bot**, not by a person.\n\n> It was announced.'
  assert.equal(commentText(ANSWER), text)
})

test('text of the caller is quoted line by line', () => {
  const reason = 'One\n# Two\r\n- three'
  assert.ok(commentText({ ...ANSWER, reason }).endsWith('\n\n> One\n> # Two\n> - three'))
  assert.ok(commentText({ ...ANSWER, comment: 'a\n\n**b**' }).endsWith('\n\n> a\n> \n> **b**'))
})

test('Markdown in the name of a key is escaped', () => {
  const text = commentText({ ...ANSWER, principal_name: '**x** [y](z) <b>' })
  assert.ok(text.includes('**\\*\\*x\\*\\* \\[y\\]\\(z\\) \\<b\\>**'), text)
})
