import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { toVersionKey, VERSION_ORDERS, type VersionOrderName } from './version-orders.ts'

const FIXTURES = new URL('../../../test/fixtures/version-orders/', import.meta.url)

type Comparison = { order: VersionOrderName; line: string; a: string; b: string; sign: string }

function readFixture(order: VersionOrderName, file: string): Comparison[] {
  const bytes = readFileSync(new URL(file, FIXTURES))
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text.split('\n').flatMap((line) => {
    if (line === '' || /^(?:#|\/\/) /.test(line)) return []
    const [a = '', sign = '', b = ''] = line.split(' ')
    return [{ order, line, a, b, sign }]
  })
}

/** What we say of a line: `<`, `=` or `>`, and null if one of its versions has no order. */
function compare(order: VersionOrderName, a: string, b: string): string | null {
  const [left, right] = [toVersionKey(order, a), toVersionKey(order, b)]
  if (left === null || right === null) return null
  if (left === right) return '='
  return left < right ? '<' : '>'
}

const FILES: readonly (readonly [VersionOrderName, string, lines: number])[] = [
  ['apk', 'alpine-versions.txt', 778],
  ['apk', 'alpine-versions-generated.txt.gz', 13_979],
  ['dpkg', 'debian-versions.txt', 30],
  ['dpkg', 'debian-versions-generated.txt.gz', 14_442],
  ['go', 'semver-versions.txt', 86],
  ['maven', 'maven-versions.txt', 102],
  ['maven', 'maven-versions-generated.txt.gz', 14_752],
  ['npm', 'semver-versions.txt', 86],
  ['nuget', 'nuget-versions.txt', 35],
  ['numbers', 'cran-versions.txt', 21],
  ['numbers', 'cran-versions-generated.txt.gz', 57],
  ['numbers', 'hackage-versions.txt', 11],
  ['packagist', 'packagist-versions.txt', 95],
  ['packagist', 'packagist-versions-generated.txt.gz', 10_630],
  ['pep440', 'pypi-versions.txt', 37],
  ['pep440', 'pypi-versions-generated.txt.gz', 12_375],
  ['pub', 'pub-versions.txt', 100],
  ['rpm', 'redhat-versions.txt', 165],
  ['rubygems', 'rubygems-versions.txt', 25],
  ['rubygems', 'rubygems-versions-generated.txt.gz', 4098],
]

/** Lines that we read otherwise, each with the reason. */
const OTHERWISE = new Map<string, string>([
  // Maven's own order is a circle here: 2.9.0.RC1 < 2.9.0 < 2.9.0-1 < 2.9.0.RC1.
  ['1.0.0-gradle-rework-beta3 < 1.0.0.RC7-3', '>'],
  ['2.9.0-1 < 2.9.0.RC1', '>'],
  ['1.1.0-01-glassfish < 1.1.0.Beta1', '>'],
  // PHP knows the words in lower case only; Composer lowers them first.
  ['v1.9.0-ALPHA.1 = v1.9.0-BETA.1', '<'],
  ['v1.9.0-BETA.1 < v1.9.0-ALPHA.2', '>'],
  ['v1.9.0-ALPHA.2 = v1.9.0-BETA.2', '<'],
])
/** How many lines have a version without an order: the ecosystem's own tools refuse it. */
const WITHOUT_ORDER: Readonly<Record<string, number>> = {
  'alpine-versions.txt': 33,
  'packagist-versions.txt': 6,
  'pypi-versions.txt': 11,
  'pypi-versions-generated.txt.gz': 69,
}

test('every order agrees with the fixtures of osv-scalibr', () => {
  for (const [order, file, lines] of FILES) {
    const comparisons = readFixture(order, file)
    assert.equal(comparisons.length, lines, file)
    let unordered = 0
    for (const { line, a, b, sign } of comparisons) {
      const found = compare(order, a, b)
      if (found === null) unordered += 1
      else assert.equal(found, OTHERWISE.get(line) ?? sign, `${file}: ${line}`)
    }
    assert.equal(unordered, WITHOUT_ORDER[file] ?? 0, file)
  }
})

test('versions that the tools of an ecosystem refuse have no order', () => {
  const refused: Partial<Record<VersionOrderName, string[]>> = {
    actions: ['v4', 'v4.1', 'main', 'b4ffde65f46336ab88eb53be808477a3936bae11'],
    apk: ['1.2_blah', '1.0bc', 'latest'],
    dpkg: ['a:1.0', ''],
    go: ['devel', '(devel)'],
    npm: ['latest', '1.0.x', '^1.0.0', 'file:../x'],
    packagist: ['1.2.3.#'],
    pep440: ['0.9-doduo', 'trunk', '1.0+', '2013-01-21T20:33:09+0100'],
    rubygems: ['latest', '1.0.0 beta', ''],
  }
  for (const [order, versions] of Object.entries(refused)) {
    for (const version of versions) assert.equal(toVersionKey(order as VersionOrderName, version), null, version)
  }
})

test('orders beyond the fixtures', () => {
  const says = (order: VersionOrderName, ...lines: string[]) => {
    for (const line of lines) {
      const [a = '', sign = '', b = ''] = line.split(' ')
      assert.equal(compare(order, a, b), sign, line)
      assert.equal(compare(order, b, a), { '<': '>', '>': '<', '=': '=' }[sign], line)
    }
  }
  says('go', 'go1.21rc2 < 1.21.0', 'go1.21rc2 = 1.21.0-rc.2', 'v1.2.3+incompatible = 1.2.3')
  says('actions', 'v4.1.1 < 4.1.2')
  says('npm', '1.2 = 1.2.0', '1.2.3.4 > 1.2.3', '1.2.3-1e5 > 1.2.3-99999')
  says('maven', '1.0.alpha < 1', '1.0.sp > 1', '1-constructor > 1', '2.0.0.RC1 < 2.0.0', '1.0.alpha < 1-1')
  says('pep440', '1.0 = 1.0.0', '1.0+1e5 < 1.0+100000', '1.0.post1 > 1.0', '1.0rc1 < 1.0', 'V1.0 = 1.0')
  says('pep440', '90071992547409930.1 < 90071992547409931.1', '1.0.dev1 < 1.0a1.dev1', '1.0a1.dev1 < 1.0a1')
  says('rubygems', '1.0.0-rc1 = 1.0.0.pre.rc1', '1.a.0.b < 1.a', '1.0 = 1')
  says('packagist', '1.0.0 < 1.0.0-patch1', '1.0.0-RC1 < 1.0.0', '1.0.0-BETA1 < 1.0.0-RC1', 'dev-main < 1.0')
  says('dpkg', '1.0~rc1 < 1.0', '1:0.1 > 2.0', '1.0-1ubuntu0.1 > 1.0-1', '1.0-1~bpo12+1 < 1.0-1')
  says('rpm', '0:1.2-3.el9 = 1.2-3.el9', '1.2-3.el9_2 < 1.2-3.el9_10', '1.0^git1 > 1.0')
  says('apk', '1.9.5_p1-r0 > 1.9.5-r0', '3.0.0_alpha1-r0 < 3.0.0-r0', '1.9.5-r1 < 1.9.5p2-r0', '1.10-r0 > 1.9-r0')
})

/** Texts like versions, of the characters that matter to any order. */
const versions = fc
  .array(fc.constantFrom(...'0 00 1 2 10 a b m rc alpha beta sp ga final p x . . . - - + ~ ^ _ : ! v'.split(' ')), {
    maxLength: 9,
  })
  .map((parts) => parts.join(''))

test('no text makes an order throw, and none takes longer than its length', () => {
  const texts = fc.oneof(versions, fc.string({ unit: 'binary', maxLength: 400 }), fc.constant('0.'.repeat(150)))
  fc.assert(
    fc.property(texts, fc.constantFrom(...VERSION_ORDERS), (text, order) => {
      const key = toVersionKey(order, text)
      assert.ok(key === null || key.length <= 20 * text.length + 20)
      if (text.length > 300) assert.equal(key, null)
    }),
    { seed: 38, numRuns: 3000 },
  )
  for (const order of VERSION_ORDERS) assert.doesNotThrow(() => toVersionKey(order, '1'.repeat(300)))
})

test('numbers count by value in every order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(20), { minLength: 3, maxLength: 3 }),
      fc.constantFrom(...VERSION_ORDERS),
      (n, order) => {
        const [major = 0, minor = 0, patch = 0] = n
        const [version, next] = [`${major}.${minor}.${patch}`, `${major}.${minor}.${patch + 1}`]
        assert.equal(compare(order, version, next), '<')
        assert.equal(compare(order, `${major}.${minor + 1}.0`, next), '>')
      },
    ),
    { seed: 38 },
  )
})
