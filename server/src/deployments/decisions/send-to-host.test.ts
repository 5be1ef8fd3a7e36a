import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { answerText, formatComment, formatNote, formatWaiting } from './send-to-host.ts'

const ANSWER = {
  decision: 'approved',
  principal_type: 'api_key',
  principal_name: 'release bot',
  email: null,
  reason: 'It was announced.',
  comment: null,
} as const

test('the comment states that an API key answered and quotes its reason', () => {
  const text = 'Approved through Shiplock by the API key **release bot**, not by a person.\n\n> It was announced.'
  assert.equal(answerText(ANSWER), text)
})

test('the comment names the person who answered, and quotes the reason and the comment that they gave', () => {
  const ada = { principal_type: 'user', principal_name: 'Ada Lovelace', email: 'ada@example.com' } as const
  const person = { ...ANSWER, ...ada, reason: null }
  assert.equal(answerText(person), 'Approved through Shiplock by **Ada Lovelace \\<ada@\u200bexample.com>**.')
  const text =
    'Rejected through Shiplock by **Ada Lovelace \\<ada@\u200bexample.com>**.\n\n> It is late.\n\n> Try on Monday.'
  assert.equal(answerText({ ...person, decision: 'rejected', reason: 'It is late.', comment: 'Try on Monday.' }), text)
})

test('text of the caller is quoted line by line, and its Markdown is escaped', () => {
  const reason = 'One\n# Two\r\n- three'
  assert.ok(answerText({ ...ANSWER, reason }).endsWith('\n\n> One\n> \\# Two\n> \\- three'))
  assert.ok(answerText({ ...ANSWER, comment: 'a\n\n**b**' }).endsWith('\n\n> a\n> \n> \\*\\*b\\*\\*'))
})

test('Markdown in the name of a key is escaped', () => {
  const text = answerText({ ...ANSWER, principal_name: '**x** [y](z) <b>' })
  assert.ok(text.includes('**\\*\\*x\\*\\* \\[y\\](z) \\<b>**'), text)
})

test('names and sentences without Markdown are not changed', () => {
  for (const plain of ['deploy-bot', 'release_key_2', 'Release 1.2 (hotfix) was announced; see #12!'])
    assert.ok(answerText({ ...ANSWER, principal_name: plain, reason: plain }).includes(`> ${plain}`), plain)
})

test('characters that change the direction of text are shown as their escapes', () => {
  const text = answerText({ ...ANSWER, principal_name: 'ci\u202efdp', reason: 'a\u2066b' })
  assert.ok(text.includes('**ci\\\\u202efdp**') && text.endsWith('> a\\\\u2066b'), text)
})

test('nobody is notified by a name in foreign text', () => {
  assert.ok(!answerText({ ...ANSWER, reason: 'Ask @ada about it' }).includes('@ada'))
})

test('every comment has at most 1,000 characters and keeps the link', () => {
  const url = 'https://shiplock.example/deployments/gh_deployment_1'
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3000 }), (text) => {
      const comment = formatComment(formatNote('rejected', text), url)
      assert.ok(comment.length <= 1000 && comment.endsWith(`(${url})`) && comment.isWellFormed())
    }),
  )
})

test('a waiting deployment names the blocking policies and the gates that are not approved', () => {
  const allows = { allow_api_keys: true, allow_run_creator: true, require_linked_accounts: false }
  const ofNow = { after_rejection: false, asks_earlier: false, replaced_at: null, approved_by: null }
  const gate = { id: '1', ...allows, ...ofNow, policies: [], approve_by_policies: false }
  const required = [
    { ...gate, name: 'One', required_approvals: 1, approved_at: null },
    { ...gate, name: 'Two', required_approvals: 1, approved_at: new Date(0) },
  ]
  const rule = {
    rule: 'r',
    name: 'Tests',
    blocking: true,
    status: 'fail',
    reason: '2 tests *fail*',
    evidence: null,
  } as const
  const policy = { id: 'p', name: 'Tested', version: 1, mode: 'enforce', decision: 'block', rules: [rule] } as const
  const evaluation = { evaluation_id: 'e', at: new Date(0), decision: 'block', policies: [policy] }
  const text = formatWaiting({ environment: 'production', required, evaluation: evaluation as never })
  const blocked = '- The policy Tested blocks it: 2 tests \\*fail\\*'
  assert.equal(text, `Shiplock holds this deployment.\n\n${blocked}\n- The gate One needs an approval.`)
})
