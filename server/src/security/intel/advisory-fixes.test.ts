import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixesOf } from './osv.parser.ts'

type Event = Record<string, string>

const affected = (events: Event[], type = 'SEMVER', pkg = { ecosystem: 'npm', name: 'lodash' }) => ({
  package: pkg,
  ranges: [{ type, events }],
})
const fixes = (...entries: object[]) => fixesOf({ affected: entries })

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
