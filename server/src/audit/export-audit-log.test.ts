import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSV_HEADER, type ShownEntry, toCsvLine } from './export-audit-log.ts'

const ENTRY: ShownEntry = {
  id: '1',
  at: '2026-03-04T05:06:07.890Z',
  principal: { type: 'user', id: '7', name: 'Ada' },
  action: 'gate.create',
  object: { type: 'gate', id: '9' },
  reason: null,
  details: { name: 'Production' },
}

test('a line has the columns of the header; quotes are doubled, and a missing value is empty', () => {
  assert.equal(
    CSV_HEADER,
    '"id","at","principal_type","principal_id","principal_name","action","object_type","object_id","reason","details"\r\n',
  )
  assert.equal(
    toCsvLine(ENTRY),
    '"1","2026-03-04T05:06:07.890Z","user","7","Ada","gate.create","gate","9",,"{""name"":""Production""}"\r\n',
  )
})

for (const [title, reason, field] of [
  ['an equals sign', '=cmd|" /C calc"!A0', `'=cmd|"" /C calc""!A0`],
  ['a plus sign', '+1', "'+1"],
  ['a minus sign', '-1+1', "'-1+1"],
  ['an at sign', '@SUM(A1)', "'@SUM(A1)"],
  ['white space before the sign', ' \t=1', " \t'=1"],
  ['a tab before the sign', '\t=1', "'\t'=1"],
  ['a tab', '\ta', "'\ta"],
  ['a carriage return', '\ra', "'\ra"],
  ['spaces before the sign', '  =1', "'  =1"],
  ['a full-width sign', '\uFF1D1', "'\uFF1D1"],
  ['a sign after a semicolon', 'a;=1', "a;'=1"],
  ['a sign on another line', 'a\r\n=1', "a\r\n'=1"],
] as const) {
  test(`${title} does not start a formula`, () => {
    assert.ok(toCsvLine({ ...ENTRY, reason }).includes(`,"${field}",`), toCsvLine({ ...ENTRY, reason }))
  })
}

test('text that is not a formula does not change', () => {
  for (const reason of ['a = b', 'ada@example.com', '1-2', 'One, two'])
    assert.ok(toCsvLine({ ...ENTRY, reason }).includes(`,"${reason}",`))
})
