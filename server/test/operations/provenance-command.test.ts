import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import type { ChainKey } from '../../src/provenance/chain/link.ts'
import { findLogState } from '../../src/provenance/log/log.store.ts'
import { appendPendingEntries } from '../../src/provenance/log/sequence-log.ts'
import { openServices } from '../../src/start/open-services.ts'
import { growChain, tamper } from '../support/chains.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running
let opened: Awaited<ReturnType<typeof openServices>>
let chain: ChainKey

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-provenance-'))
  running = await startProgram(dataDir)
  const [, { url }] = await json('doctor')
  const config = readConfig({ SHIPLOCK_DATA_DIR: dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' })
  opened = await openServices(config, { address: url }, { applicationName: 'test', connections: 2 })
  await link('github', '1', 'acme/api')
  await link('gitlab', '2', 'acme/twin')
  await link('github', '3', 'acme/twin')
  const [{ id: org_id }] = await opened.services.sql<[{ id: string }]>`select id from organizations`
  chain = { org_id, provider: 'github', repository_id: '1' }
  await growChain(opened.services, chain, 7)
})
after(async () => {
  await opened?.close()
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, args)
const refused = (code: number, line: RegExp, ...args: string[]) => assertRefused(dataDir, code, line, args)
const link = (provider: string, id: string, name: string) =>
  json('repo', 'link', '--org', 'default', '--provider', provider, '--id', id, '--name', name)
const verify = (...args: string[]) => runProgram(dataDir, ['provenance', 'verify', ...args, '--json'])
const acknowledge = (...args: string[]) => ['provenance', 'acknowledge', '--org', 'default', '--note', 'Known', ...args]

test('provenance verify prints ok and what it verified, of all chains or one', async () => {
  const all = { ok: true, chains: 1, links: 7, breaks: [], unlinked: [] }
  assert.deepEqual(await json('provenance', 'verify'), all)
  assert.deepEqual(await json('provenance', 'verify', '--org', 'default'), all)
  assert.deepEqual(await json('provenance', 'verify', '--repository', 'acme/api'), all)
  assert.deepEqual(await json('provenance', 'verify', '--repository', 'github:1', '--provider', 'github'), all)
  const other = await json('provenance', 'verify', '--repository', 'acme/twin')
  assert.deepEqual([other.ok, other.links], [true, 0])
})

test('a break exits with 1 and names the link, is shown by doctor, and ends with its acknowledgement', async () => {
  await refused(1, /^No break of the chain is waiting/m, ...acknowledge('--repository', 'acme/api'))
  const { sql } = opened.services
  await tamper(opened, (tx) => tx`update chain_links set body = replace(body, 'Ada', 'Eve') where index = 2`)
  const { code, json: printed, stderr } = await verify()
  assert.equal(code, 1)
  assert.match(stderr, /1 break/)
  const [{ hash, body }] = await sql<[{ hash: Buffer; body: string }]>`
    select hash, body
    from chain_links
    where index = 2`
  assert.ok(body.includes('Eve'))
  assert.equal(printed.ok, false)
  assert.deepEqual(Object.keys(printed.breaks[0]), ['part', 'resource', 'repository', 'index', 'expected', 'found'])
  const [{ found, ...first }] = printed.breaks
  const link = { part: 'chain', resource: 'github:1', repository: 'acme/api', index: 2, expected: hash.toString('hex') }
  assert.deepEqual(first, link)
  assert.match(found, /^[0-9a-f]{64}$/)
  assert.equal(printed.breaks.length, 1)
  const doctor = await runProgram(dataDir, ['doctor', '--json'])
  const check = doctor.json.find((one: { check: string }) => one.check === 'provenance')
  assert.deepEqual([doctor.code, check.ok], [1, false])
  assert.match(check.detail, /acme\/api \(1, since/)
  const acknowledged = await json(...acknowledge('--repository', 'acme/api'))
  assert.deepEqual(acknowledged, { repository: 'acme/api', note: 'Known', breaks: [{ index: 2, part: 'link' }] })
  assert.equal((await json('provenance', 'verify')).ok, true)
})

test('a contradiction of the transparency log is a break without a repository', async () => {
  await appendPendingEntries(opened.services)
  const changeTile = () =>
    tamper(
      opened,
      (tx) => tx`update log_tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where level = 0`,
    )
  await changeTile()
  const { code, json: printed, stderr } = await verify()
  assert.equal(code, 1)
  assert.match(stderr, /1 break/)
  assert.equal(printed.ok, false)
  const [{ expected, found, ...first }] = printed.breaks
  assert.deepEqual(
    [first, printed.breaks.length],
    [{ part: 'log_entry', resource: 'tile/0/000', repository: null, index: 1 }, 1],
  )
  for (const hash of [expected, found]) assert.match(hash, /^[0-9a-f]{64}$/)
  assert.notEqual(expected, found)
  assert.equal((await json('provenance', 'verify', '--org', 'default')).ok, true)
  await changeTile()
  assert.equal((await json('provenance', 'verify')).ok, true)
})

test('a lost checkpoint is named by provenance verify and doctor, until the next entry signs it again', async () => {
  const { services } = opened
  await appendPendingEntries(services)
  const { size, root_hash } = await findLogState(services.sql)
  await tamper(opened, (tx) => tx`delete from log_checkpoints where size = ${size}`)
  const { code, json: printed } = await verify()
  assert.equal(code, 1)
  const found = root_hash?.toString('hex')
  assert.deepEqual(printed.breaks, [
    { part: 'checkpoint', resource: `${size}`, repository: null, index: size, expected: null, found },
  ])
  const { stdout } = await runProgram(dataDir, ['provenance', 'verify'])
  assert.match(stdout, /^- +7 +log checkpoint +unknown /m)
  const doctor = await runProgram(dataDir, ['doctor', '--json'])
  const { ok, detail, next } = doctor.json.find((one: { check: string }) => one.check === 'log')
  assert.deepEqual([doctor.code, ok], [1, false])
  assert.match(detail, /^the checkpoint of its 7 entries is lost; the newest that is stored has \d/)
  assert.match(next, /provenance verify.*docs\/transparency-log\.md/)
  await growChain(services, chain, 1, 7)
  await appendPendingEntries(services)
  assert.equal((await json('provenance', 'verify')).ok, true)
  const checks: { check: string; ok: boolean; detail: string }[] = (await runProgram(dataDir, ['doctor', '--json']))
    .json
  assert.partialDeepStrictEqual(
    checks.find(({ check }) => check === 'log'),
    { ok: true, detail: 'its newest checkpoint has 8 entries' },
  )
})

test('a mistake is reported in one line', async () => {
  await refused(1, /^The repository acme\/none does not exist/m, 'provenance', 'verify', '--repository', 'acme/none')
  await refused(1, /^Organization "none" does not exist/m, 'provenance', 'verify', '--org', 'none')
  await refused(1, /github:3.*gitlab:2.*--provider/m, ...acknowledge('--repository', 'acme/twin'))
  await refused(1, /^No break/m, ...acknowledge('--repository', 'acme/twin', '--provider', 'gitlab'))
  await refused(2, /^--provider must be one of/m, ...acknowledge('--repository', 'acme/twin', '--provider', 'x'))
  await refused(2, /^--repository is missing/m, ...acknowledge())
  await refused(2, /^--resource is missing/m, ...acknowledge('--part', 'key'))
  await refused(1, /^There is no break of the key x/m, ...acknowledge('--part', 'key', '--resource', 'x'))
  await refused(2, /^--note N is missing/m, 'provenance', 'acknowledge', '--org', 'default', '--repository', 'acme/api')
})
