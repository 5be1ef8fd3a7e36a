import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findProxy, formatProxy } from '../src/proxies.ts'

const PROXY = { HTTPS_PROXY: 'http://proxy.example:3128' }

/** The proxy for an address as people see it, and the variable that names it. */
function proxyFor(address: string, env: NodeJS.ProcessEnv): string | null {
  const proxy = findProxy(new URL(address), env)
  return proxy === null ? null : `${proxy.variable} ${formatProxy(proxy)}`
}

test('each scheme has its variable, and lower case goes before upper case', () => {
  const env = { HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:2', HTTP_PROXY: 'plain:3' }
  assert.equal(proxyFor('https://a.example', env), 'https_proxy http://lower:2')
  assert.equal(proxyFor('http://a.example', env), 'HTTP_PROXY http://plain:3')
  assert.equal(proxyFor('http://a.example', PROXY), null)
  assert.equal(proxyFor('https://a.example', { HTTPS_PROXY: '  ' }), null)
})

test('the address of a proxy may lack the scheme, be https, and have a user and a password', () => {
  assert.equal(proxyFor('https://a.example', { HTTPS_PROXY: 'proxy:3128' }), 'HTTPS_PROXY http://proxy:3128')
  assert.equal(proxyFor('https://a.example', { HTTPS_PROXY: 'https://proxy' }), 'HTTPS_PROXY https://proxy')
  const env = { HTTPS_PROXY: 'ada:p%40ss%@proxy:3128' }
  assert.equal(proxyFor('https://a.example', env), 'HTTPS_PROXY http://proxy:3128')
  const url = findProxy(new URL('https://a.example'), env)?.url
  assert.equal(decodeURIComponent(url?.password ?? ''), 'p@ss%')
})

test('SOCKS and nonsense are refused without the value, which may hold a password', () => {
  for (const [value, message] of [
    ['socks5://ada:secret@proxy:1080', /^SOCKS proxies are not supported: HTTPS_PROXY must have the form http:/],
    ['http://ada:secret@', /^it names no proxy: HTTPS_PROXY must have the form http:/],
  ] as const) {
    assert.throws(
      () => proxyFor('https://a.example', { HTTPS_PROXY: value }),
      (error: Error) => message.test(error.message) && !error.message.includes('secret'),
    )
  }
})

const EXCLUSIONS: [list: string, without: string[], through: string[]][] = [
  ['*', ['https://a.example'], []],
  ['example.com', ['https://example.com', 'https://a.EXAMPLE.com', 'https://example.com.'], ['https://anexample.com']],
  ['.example.com', ['https://a.example.com'], ['https://example.org']],
  ['*.example.com', ['https://a.b.example.com'], ['https://example.org']],
  ['example.com:8443', ['https://example.com:8443'], ['https://example.com', 'https://example.com:8444']],
  ['example.com:443', ['https://example.com'], ['https://example.com:8443']],
  ['10.0.0.0/8', ['https://10.200.1.1'], ['https://11.0.0.1', 'https://10.example']],
  ['192.0.2.7', ['https://192.0.2.7:444'], ['https://192.0.2.70']],
  ['192.0.2.7:443', ['https://192.0.2.7'], ['https://192.0.2.7:444']],
  ['2001:db8::/32', ['https://[2001:db8::1]'], ['https://[2001:db9::1]']],
  ['::1', ['https://[::1]:8443'], ['https://[::2]']],
  ['[::1]:8443', ['https://[::1]:8443'], ['https://[::1]']],
  ['a.example, b.example c.example', ['https://b.example', 'https://c.example'], ['https://d.example']],
  ['10.0.0.0/99,10.0.0.0/x,/,.,:', [], ['https://10.0.0.1']],
]

for (const [list, without, through] of EXCLUSIONS) {
  test(`NO_PROXY=${list}`, () => {
    for (const address of without) assert.equal(proxyFor(address, { ...PROXY, NO_PROXY: list }), null, address)
    for (const address of through) assert.notEqual(proxyFor(address, { ...PROXY, no_proxy: list }), null, address)
  })
}
