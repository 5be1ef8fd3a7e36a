import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advisoryAddress, cvssAddress, sourceAddress, weaknessAddress } from './addresses.ts'

test('ids of vulnerabilities link to the databases that name them', () => {
  const hrefOf = (id: string) => advisoryAddress(id)?.href
  assert.equal(hrefOf('CVE-2024-1000'), 'https://nvd.nist.gov/vuln/detail/CVE-2024-1000')
  assert.equal(hrefOf('GHSA-aaaa-bbbb-cccc'), 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc')
  assert.equal(hrefOf('PYSEC-2024-1'), 'https://osv.dev/vulnerability/PYSEC-2024-1')
  for (const odd of ['javascript:alert(1)', '../../x', 'CVE', 'CVE-2024/../x', `X-${'1'.repeat(101)}`])
    assert.equal(hrefOf(odd), undefined, odd)
})

test('weaknesses and CVSS vectors link to their owners', () => {
  assert.equal(weaknessAddress('CWE-79'), 'https://cwe.mitre.org/data/definitions/79.html')
  assert.equal(weaknessAddress('CWE-79"><script>'), null)
  assert.equal(cvssAddress('CVSS:3.1/AV:N/AC:L'), 'https://www.first.org/cvss/calculator/3.1#CVSS:3.1/AV:N/AC:L')
  assert.equal(cvssAddress('AV:N/AC:L'), null)
})

const PLACE = { path: 'src/a b.ts', start: 3, end: 5, revision: 'refs/heads/main' }

for (const [provider, expected] of [
  ['github', 'https://host/acme/app/blob/main/src/a%20b.ts#L3-L5'],
  ['gitlab', 'https://host/acme/app/-/blob/main/src/a%20b.ts#L3-5'],
  ['bitbucket', 'https://host/acme/app/src/main/src/a%20b.ts#lines-3:5'],
  [
    'azure',
    'https://host/acme/app?path=%2Fsrc%2Fa%20b.ts&version=GBmain&line=3&lineEnd=6&lineStartColumn=1&lineEndColumn=1',
  ],
] as const) {
  test(`the place in the code at ${provider}`, () => {
    assert.equal(sourceAddress({ provider, htmlUrl: 'https://host/acme/app/' }, PLACE), expected)
  })
}

test('a place has no address if it leaves the repository, or the repository has none', () => {
  const repository = { provider: 'github', htmlUrl: 'https://host/acme/app' }
  for (const path of ['../etc/passwd', 'a/../../b', '/etc/passwd', './a', 'a//b'])
    assert.equal(sourceAddress(repository, { ...PLACE, path }), null, path)
  assert.equal(sourceAddress({ ...repository, htmlUrl: 'javascript:alert(1)//' }, PLACE), null)
  assert.equal(sourceAddress({ ...repository, htmlUrl: null }, PLACE), null)
  assert.equal(sourceAddress(repository, { ...PLACE, revision: null }), null)
})
