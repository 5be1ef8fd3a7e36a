import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IntelError } from './intel-file.ts'
import { collectFixes, parseOsv } from './osv.parser.ts'

const RECORD = {
  id: 'GHSA-9v2f-6vcg-3hgv',
  modified: '2024-07-03T20:05:21Z',
  aliases: ['CVE-2024-39236'],
  severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }],
  affected: [{ package: { ecosystem: 'PyPI', name: 'Gradio' }, versions: ['4.36.1'] }],
  database_specific: { severity: 'CRITICAL' },
}
const V4 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N'

const read = (fields: object = {}) => parseOsv(JSON.stringify({ ...RECORD, ...fields }))

test('the fields that are stored are read, with the score of the CVSS vector', () => {
  assert.deepEqual(read(), {
    id: 'GHSA-9v2f-6vcg-3hgv',
    modified: new Date('2024-07-03T20:05:21Z'),
    withdrawn: false,
    severity: 'critical',
    cvss_version: '3.1',
    cvss_score: 9.8,
    cvss_vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
    aliases: ['CVE-2024-39236'],
    fixes: [],
    upstream: [],
    affected: [
      {
        ...{ ecosystem: 'PyPI', release: '', package_key: 'gradio', name: 'Gradio', ranges: [], versions: ['4.36.1'] },
        ...{ urgency: null, informational: null, is_truncated: false },
      },
    ],
  })
})

test('the newest version of CVSS counts, at the record or at a package', () => {
  const { cvss_version, cvss_score } = read({ severity: [...RECORD.severity, { type: 'CVSS_V4', score: V4 }] })
  assert.deepEqual([cvss_version, cvss_score], ['4.0', 9.3])
  const { cvss_vector } = read({ affected: [{ severity: [{ type: 'CVSS_V4', score: V4 }] }] })
  assert.equal(cvss_vector, V4)
})

test('the severity that the database states takes precedence over the score; a record without either has none', () => {
  assert.equal(read({ database_specific: { severity: 'MODERATE' } }).severity, 'medium')
  assert.equal(read({ database_specific: {} }).severity, 'critical')
  assert.equal(read({ database_specific: {}, severity: [{ type: 'Ubuntu', score: 'low' }] }).severity, 'low')
  const { severity, cvss_version } = read({ database_specific: {}, severity: [{ type: 'CVSS_V3', score: '9.8' }] })
  assert.deepEqual([severity, cvss_version], [null, null])
})

test('a record with a withdrawn time is withdrawn', () => {
  assert.equal(read({ withdrawn: '2024-08-01T00:00:00Z' }).withdrawn, true)
})

test('a document that is not a record is refused with a reason', () => {
  const refuses = (text: string, reason: RegExp) =>
    assert.throws(
      () => parseOsv(text),
      (error) => error instanceof IntelError && reason.test(error.message),
    )
  refuses('{"id":', /not valid JSON/)
  refuses('[]', /no id/)
  refuses('{"id": "with space"}', /no id/)
  refuses('{"id": "GHSA-1", "modified": "2024-07-03"}', /GHSA-1 has no valid modified time/)
})

const aliasesOf = (fields: object) => read({ aliases: undefined, ...fields }).aliases

test('the aliases are the ids that the record lists, without its own', () => {
  assert.deepEqual(aliasesOf({ id: 'GO-2024-1', aliases: ['GHSA-x', 'GO-2024-1', 'CVE-2024-1000', 7, ''] }), [
    'CVE-2024-1000',
    'GHSA-x',
  ])
})

test('the only CVE id in upstream is an alias; several are not', () => {
  assert.deepEqual(aliasesOf({ id: 'DEBIAN-CVE-2024-1000', upstream: ['CVE-2024-1000'] }), ['CVE-2024-1000'])
  assert.deepEqual(aliasesOf({ id: 'CGA-1', upstream: ['GHSA-x', 'CVE-2024-1000'] }), ['CVE-2024-1000'])
  assert.deepEqual(aliasesOf({ id: 'DSA-1', upstream: ['CVE-2024-1000', 'CVE-2024-1001'] }), [])
})

test('related ids are no aliases, and a list that is too long is ignored', () => {
  assert.deepEqual(aliasesOf({ id: 'GHSA-x', related: ['CVE-2024-1000'] }), [])
  assert.deepEqual(
    aliasesOf({ id: 'A-1', aliases: Array.from({ length: 51 }, (_, at) => `CVE-2024-${1000 + at}`) }),
    [],
  )
})

type Event = Record<string, string>

const affected = (events: Event[], type = 'SEMVER', pkg = { ecosystem: 'npm', name: 'lodash' }) => ({
  package: pkg,
  ranges: [{ type, events }],
})
const fixes = (...entries: object[]) => collectFixes({ affected: entries })

test('a range that ends in a fixed version is fixed; one that ends in the last affected version is not', () => {
  const fixed = affected([{ introduced: '0' }, { fixed: '4.17.21' }])
  assert.deepEqual(fixes(fixed), [{ type: 'npm', name: 'lodash', fixes_all: true, fixed: ['4.17.21'] }])
  assert.deepEqual(fixes(affected([{ introduced: '0' }, { last_affected: '4.17.20' }])), [])
})

test('fixes_all is false if a range is open, in one entry or in several', () => {
  const open = { type: 'npm', name: 'lodash', fixes_all: false, fixed: ['1.9'] }
  assert.deepEqual(fixes(affected([{ introduced: '0' }, { fixed: '1.9' }, { introduced: '2.0' }])), [open])
  assert.deepEqual(fixes(affected([{ introduced: '0' }, { fixed: '1.9' }]), affected([{ introduced: '2.0' }])), [open])
})

test('commits and fixes of distributions are ignored', () => {
  const events = [{ introduced: '0' }, { fixed: '1.0' }]
  assert.deepEqual(fixes(affected(events, 'GIT')), [])
  assert.deepEqual(fixes(affected(events, 'ECOSYSTEM', { ecosystem: 'Debian:12', name: 'openssl' })), [])
})

test('each package has its own fixes', () => {
  const events = [{ introduced: '0' }, { fixed: '1.0' }]
  const found = fixes(
    affected(events, 'ECOSYSTEM', { ecosystem: 'Maven', name: 'org.apache:log4j' }),
    affected(events, 'ECOSYSTEM', { ecosystem: 'crates.io', name: 'time' }),
  )
  assert.deepEqual(
    found.map(({ type, name }) => `${type} ${name}`),
    ['maven org.apache:log4j', 'cargo time'],
  )
})
