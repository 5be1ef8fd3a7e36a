import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildLinkAddress } from '../../src/access/links/link.ts'
import { describeConsoleStep } from '../../src/commands/start.ts'
import { readConfig } from '../../src/config.ts'

const TOKEN = 'shl_link_abc'
const setupOf = (baseUrl: string) => ({
  link: buildLinkAddress(baseUrl, TOKEN),
  organization: 'default',
  expires_at: new Date('2026-03-04T06:07:08.000Z'),
})

test('a start shows the address of the console and the setup link, on localhost where passkeys work', () => {
  const config = readConfig({ SHIPLOCK_PORT: '8421' })
  const text = describeConsoleStep(config, setupOf(config.baseUrl))
  assert.match(text, /^Open the console at http:\/\/localhost:8421$/m)
  assert.match(text, /^ {2}http:\/\/localhost:8421\/join#token=shl_link_abc$/m)
  assert.match(text, /"default".*2026-03-04T06:07:08\.000Z/)
  assert.doesNotMatch(text, /127\.0\.0\.1/)
})

test('a start on IPv6 loopback shows localhost, too, and every other address as it is', () => {
  assert.match(describeConsoleStep(readConfig({ SHIPLOCK_HOST: '::1' }), null), /^ {2}http:\/\/localhost:8420$/m)
  for (const baseUrl of ['https://shiplock.example/ci', 'http://127.0.0.1.example', 'http://127.0.0.2:80']) {
    const config = readConfig({ SHIPLOCK_BASE_URL: baseUrl })
    assert.ok(describeConsoleStep(config, null).split('\n').includes(`  ${baseUrl}`), baseUrl)
    assert.ok(describeConsoleStep(config, setupOf(baseUrl)).includes(`  ${baseUrl}/join#token=`))
  }
})

test('a start without the console says so', () => {
  const text = describeConsoleStep(readConfig({ SHIPLOCK_CONSOLE: 'off' }), null)
  assert.match(text, /The console is off \(SHIPLOCK_CONSOLE\)/)
  assert.doesNotMatch(text, /http/)
})
