import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createRun } from '../../server/test/support/ci-runs.ts'
import { deployOnHost, importRecords, sendSbom } from '../../server/test/support/exposure-world.ts'
import { approverOf, configureGate, getDeployment, openGate } from '../../server/test/support/gates.ts'
import { insertConnection } from '../../server/test/support/host-objects.ts'
import { uploadReport } from '../../server/test/support/reports.ts'
import { sarif, sarifResult } from '../../server/test/support/sarif.ts'
import { COMMANDS } from '../src/commands/commands.ts'
import { shiplock } from './support/program.ts'
import { startServer } from './support/server.ts'
import { shiplockOnTerminal } from './support/terminal.ts'

const server = await startServer()
const { api, caller, env } = server
const REASON = 'Release 1.2 was announced for today.'

before(async () => {
  for (let index = 0; index < 5; index++) await createRun(api, caller, { external_run_id: `list-${index}` })
  const results = Array.from({ length: 7 }, (_, index) => sarifResult(`rule-${index}`))
  await uploadReport(api, caller, sarif(results))
})

const call = (args: string[], more: Record<string, string> = {}) => shiplock(args, { env: { ...env, ...more } })

const LISTS = ['deployments', 'runs', 'findings', 'issues', 'alerts', 'changes', 'stream list']

for (const name of LISTS) {
  test(`${name}: the API takes every filter`, async () => {
    const command = await COMMANDS[name]?.()
    const values: Record<string, string> = { repository: 'acme/shop', provider: 'github', 'repository-id': '7' }
    const others: Record<string, string> = {
      ...{ since: '7d', until: '1h', 'first-seen-since': '2026-01-01T00:00:00+01:00', limit: '7' },
      ...{ issue: '0199a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b', commit: '0'.repeat(40), 'epss-min': '0.5' },
    }
    const skipped = ['url', 'audience', 'quiet', 'json']
    const args = Object.entries(command?.options ?? {})
      .filter(([option]) => !skipped.includes(option))
      .flatMap(([option, { choices }]) => [`--${option}`, values[option] ?? others[option] ?? choices?.[0] ?? 'open'])
    const { code, json, stderr } = await call([...name.split(' '), ...args, '--json'])
    assert.equal(code, 0, stderr)
    assert.deepEqual(json, [])
  })
}

test('--json is one array of the items of all pages, --limit cuts it', async () => {
  const { json } = await call(['findings', '--limit', '1000', '--json'])
  assert.equal(json.length, 7)
  assert.equal(json[0].severity, 'medium')
  const two = await call(['findings', '--limit', '2', '--json'])
  assert.deepEqual(
    two.json.map(({ id }: { id: string }) => id),
    json.slice(0, 2).map(({ id }: { id: string }) => id),
  )
  assert.match(two.stderr, /There are more than these 2 findings; use --limit to print more/)
})

test('a list without a terminal is a table without colours', async () => {
  const { code, stdout, stderr } = await call(['findings'])
  assert.deepEqual([code, stderr], [0, ''])
  const [heading, ...lines] = stdout.trimEnd().split('\n')
  assert.match(heading ?? '', /^ID\s+SEVERITY\s+STATE\s+SCANNER\s+REPOSITORY\s+WHERE\s+TITLE$/)
  assert.equal(lines.length, 7)
  assert.match(lines[0] ?? '', /^[0-9a-f-]{36} {2}medium {4}open/)
  assert.ok(!stdout.includes('\u001b'))
})

test('a list on a terminal fits its width, with coloured severities unless NO_COLOR is set', async () => {
  const { code, screen } = await shiplockOnTerminal(['findings'], { env })
  assert.equal(code, 0, screen)
  assert.ok(screen.includes('\u001b[33mmedium\u001b[0m'), screen)
  const plain = await shiplockOnTerminal(['findings'], { env: { ...env, NO_COLOR: '1' } })
  for (const line of plain.screen.split('\r\n')) assert.ok(line.length <= 80, line)
  assert.ok(!plain.screen.includes('\u001b'), plain.screen)
})

test('an empty list prints nothing on standard output', async () => {
  const { code, stdout, stderr } = await call(['findings', '--severity', 'critical'])
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /There are no findings that match/)
  assert.equal((await call(['findings', '--severity', 'critical', '--json'])).stdout, '[]\n')
})

test('runs and issues are listed, and an issue is explained', async () => {
  assert.equal((await call(['runs', '--json'])).json.length, 5)
  const { json: issues } = await call(['issues', '--json'])
  assert.equal(issues.length, 7)
  const { code, stdout } = await call(['explain', issues[0].id])
  assert.equal(code, 0)
  assert.match(stdout, new RegExp(`^Issue ${issues[0].id} is open\\. It has 1 finding\\.\\n`))
  assert.equal((await call(['explain', issues[0].id, '--json'])).json.issue_id, issues[0].id)
})

test('a deployment is approved once, and another is rejected', async () => {
  await configureGate(api, caller)
  const [first, second] = [await openGate(api, caller), await openGate(api, caller, { job: 'other' })]
  const { json: pending } = await call(['deployments', '--status', 'pending_approval', '--json'])
  assert.equal(pending.length, 2)
  const asApprover = { SHIPLOCK_KEY: (await approverOf(api, caller)).key }
  const approved = await call(['approve', first.deployment_id, '--reason', REASON, '--json'], asApprover)
  assert.equal(approved.code, 0, approved.stderr)
  assert.deepEqual(approved.json, { approved: true, status: 'approved' })
  const { approvals } = await getDeployment(api, caller, first.deployment_id)
  assert.match(JSON.stringify(approvals), new RegExp(REASON))
  const again = await call(['approve', first.deployment_id, '--reason', REASON], asApprover)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /409 already_decided/)
  const rejected = await call(['reject', second.deployment_id, '--reason', REASON], asApprover)
  assert.deepEqual([rejected.code, rejected.stderr], [0, ''])
  assert.match(rejected.stdout, /^The deployment \S+ was rejected; its status is rejected$/m)
})

test('stream list, end and take-over', async () => {
  const own = await api.caller()
  const as = (...args: string[]) => call(args, { SHIPLOCK_KEY: own.key })
  await uploadReport(api, own, sarif([sarifResult('a')]), { category: 'nightly' })
  await uploadReport(api, own, sarif([sarifResult('a')]), { category: 'daily' })
  const { json: streams } = await as('stream', 'list', '--json')
  assert.deepEqual(streams.map(({ category, open }: { category: string; open: number }) => [category, open]).sort(), [
    ['daily', 1],
    ['nightly', 1],
  ])
  const [{ id }, other] = streams
  const refused = await as('stream', 'take-over', id, '--from', other.id)
  assert.deepEqual([refused.code, /\(409 other_stream/.test(refused.stderr)], [1, true], refused.stderr)
  assert.equal((await as('stream', 'end', id)).code, 2)
  const ended = await as('stream', 'end', id, '--reason', 'The scanner was replaced.')
  assert.deepEqual([ended.code, ended.stdout], [0, `The stream ${id} has ended.\n`], ended.stderr)
  const { json: left } = await as('stream', 'list', '--status', 'ended', '--json')
  assert.deepEqual(
    left.map((stream: { id: string; open: number }) => [stream.id, stream.open]),
    [[id, 0]],
  )
})

test('1: an error of the API in one line: the scope, the plan, what does not exist', async () => {
  const { key } = await api.caller({ scopes: ['write:ci'] })
  const forbidden = await call(['findings'], { SHIPLOCK_KEY: key })
  assert.deepEqual([forbidden.code, forbidden.stdout], [1, ''])
  assert.match(forbidden.stderr, /does not have the scope read:security, which this command needs \(403 forbidden\)\n$/)
  const team = await api.caller({ plan: 'team' })
  const unpaid = await call(['issues'], { SHIPLOCK_KEY: team.key })
  assert.equal(unpaid.code, 1)
  assert.match(unpaid.stderr, /\(402 plan_required/)
  const missing = await call(['approve', 'none', '--reason', REASON])
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /\(404 not_found/)
})

test('exposure exits with 3, 4 and 0 for affected, unknown and neither, and with 1 for an id that nobody knows', async () => {
  const source = await insertConnection(api.services.sql, caller.orgId)
  const record = { id: 'CVE-2026-30000', modified: '2026-03-01T00:00:00Z' }
  const ranges = [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '2.0.0' }] }]
  await importRecords(api, { ...record, affected: [{ package: { ecosystem: 'npm', name: 'lib' }, ranges }] })
  const ask = (...args: string[]) => call(['exposure', record.id, ...args])
  assert.equal((await ask()).code, 0)
  await deployOnHost(api, source, { id: '7001', commit: '1'.repeat(40) })
  const unknown = await ask()
  assert.deepEqual([unknown.code, /production +no_sbom/.test(unknown.stdout)], [4, true], unknown.stdout)
  await sendSbom(api, caller, ['pkg:npm/lib@1.0.0'], { commitSha: '1'.repeat(40) })
  const affected = await ask()
  assert.equal(affected.code, 3)
  assert.match(affected.stdout, /1 are affected[\s\S]*acme\/shop +production +unknown +pkg:npm\/lib@1\.0\.0 +2\.0\.0/)
  const { code, json } = await ask('--json')
  assert.deepEqual([code, json.counts.affected, json.complete, json.next_cursor], [3, 1, true, null])
  const none = await call(['exposure', 'CVE-2026-39999'])
  assert.deepEqual([none.code, /unknown_vulnerability/.test(none.stderr)], [1, true])
})

const WRONG: [args: string[], message: RegExp][] = [
  [['findings', '--limit', '0'], /--limit must be an integer from 1/],
  [['runs', '--status', 'done'], /--status must be one of queued, in_progress/],
  [['runs', '--since', 'yesterday'], /--since must be a date, a time such as/],
  [['issues', '--epss-min', '2'], /--epss-min must be a number from 0 to 1/],
  [['approve', 'x'], /Give the reason with --reason/],
  [['approve', 'x', '--reason', 'short'], /--reason must have 10 to 500 characters/],
  [['reject', '--reason', REASON], /Give one ID/],
  [['explain', 'x'], /ID must be the id of an issue/],
]
for (const [args, message] of WRONG) {
  test(`2: shiplock ${args.join(' ')}`, async () => {
    const { code, stdout, stderr } = await call(args)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
  })
}

test('every list and answer has help with examples', async () => {
  for (const name of [...LISTS, 'approve', 'reject', 'explain', 'exposure', 'report']) {
    const { code, stdout } = await call([name, '--help'])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^usage: shiplock ${name} [\\s\\S]*\\nexamples:\\n  shiplock ${name}`))
  }
})
