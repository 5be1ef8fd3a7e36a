import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { removeSecrets } from './remove-secrets.ts'

/** Not secrets. Built from parts, so that scanners of this repository do not report them. */
const of = (prefix: string, length: number) => prefix + 'aB3d'.repeat(Math.ceil(length / 4)).slice(0, length)

const SECRETS: [name: string, secret: string][] = [
  ['an API key of Shiplock', of('shl_live_', 46)],
  ['a development key of Shiplock', of('shl_dev_', 46)],
  ['a poll token', of('shl_gate_', 60)],
  ['a GitHub token', of('ghp_', 36)],
  ['a GitHub App token', of('ghs_', 36)],
  ['a fine-grained GitHub token', of('github_pat_', 82)],
  ['a GitLab token', of('glpat-', 20)],
  ['an AWS key', `AKIA${'ABCD1234'.repeat(2)}`],
  ['a Slack token', of('xoxb-', 40)],
  ['a Google key', of('AIza', 35)],
  ['an npm token', of('npm_', 36)],
  ['a PyPI token', of('pypi-', 80)],
  ['a Stripe key', of('sk_live_', 24)],
  ['a model key', of('sk-ant-api03-', 40)],
  ['a JSON Web Token', `${of('eyJ', 30)}.${of('eyJ', 40)}.${of('', 43)}`],
]

for (const [name, secret] of SECRETS) {
  test(`${name} is masked wherever it stands`, () => {
    for (const line of [secret, `key=${secret}`, `"${secret}",`, `see ${secret} and go on`, `https://h/?a=${secret}`]) {
      const [masked = ''] = removeSecrets([line])
      assert.ok(!masked.includes(secret.slice(-8)), masked)
      assert.ok(masked.includes('***'), masked)
    }
  })
}

const LINES: [line: string, masked: string][] = [
  ['git clone https://ada:hunter22@github.com/acme/shop', 'git clone https://***@github.com/acme/shop'],
  ['postgres://shop:p@ss@db:5432/shop refused', 'postgres://***@db:5432/shop refused'],
  ['ssh://git@github.com/acme/shop', 'ssh://git@github.com/acme/shop'],
  ['Authorization: Bearer abc.def-123', 'Authorization: ***'],
  ['> authorization: Basic YWRhOmh1bnRlcjI=', '> authorization: ***'],
  ["curl -H 'X: Bearer abcdefgh12345'", "curl -H 'X: Bearer ***'"],
  ['DB_PASSWORD=hunter22 npm test', 'DB_PASSWORD=*** npm test'],
  ['{"api_key": "abcdef123456"}', '{"api_key": "***"}'],
  ['NPM_TOKEN: ***', 'NPM_TOKEN: ***'],
  ['The token is *** and stays', 'The token is *** and stays'],
  ['Tests: 1 failed, 3 passed', 'Tests: 1 failed, 3 passed'],
  ["error TS2322: Type 'string' is not assignable", "error TS2322: Type 'string' is not assignable"],
]

for (const [line, masked] of LINES) {
  test(`${line} becomes ${masked}`, () => assert.deepEqual(removeSecrets([line]), [masked]))
}

const KEY = (part: string) => `-----${part} RSA PRIVATE KEY-----`
const BODY = ['MIIEowIBAAKCAQEAexample0123456789', 'abcdefghijklmnopqrstuvwxyz012345==']

test('private keys are masked, also if the log has only one end of them', () => {
  assert.deepEqual(removeSecrets(['a', KEY('BEGIN'), ...BODY, KEY('END'), 'b']), ['a', '***', '***', 'b'])
  assert.deepEqual(removeSecrets([...BODY, KEY('END'), 'b']), ['***', 'b'])
  assert.deepEqual(removeSecrets(['a', KEY('BEGIN'), ...BODY]), ['a', '***'])
  assert.deepEqual(removeSecrets([`k="${KEY('BEGIN')}\\n${BODY[0]}\\n${KEY('END')}" x`]), ['k="***" x'])
})

test('the time is linear for hostile lines', () => {
  const hostile = ['eyJaaaaaaaaaa-', 'https://', 'password=', 'SG.aaaaaaaaaaaaaaaa.', '-----BEGIN ', 'authorization: ']
  const started = performance.now()
  for (const part of hostile) removeSecrets(Array.from({ length: 16 }, () => part.repeat(4000).slice(0, 4000)))
  assert.ok(performance.now() - started < 2000)
})

test('text without secrets of these shapes keeps its words', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { maxLength: 20 }), (words) => {
      const line = words.filter((word) => !/bearer|token|pass|secret/.test(word)).join(' ')
      assert.deepEqual(removeSecrets([line]), [line])
    }),
  )
})
