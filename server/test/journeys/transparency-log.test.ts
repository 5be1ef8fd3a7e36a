import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, beforeEach, test } from 'node:test'
import { scheduledJobs } from '../../src/jobs.ts'
import { openSql } from '../../src/platform/db/sql.ts'
import { SeededRandom } from '../../src/platform/seeded-random.ts'
import {
  findLogState,
  hasPendingEntries,
  insertLogEntry,
  listCheckpoints,
  listEntries,
} from '../../src/provenance/log/log.store.ts'
import { openLogKey } from '../../src/provenance/log/log-key.ts'
import { readLogProof } from '../../src/provenance/log/read-log-proof.ts'
import { appendPendingEntries, startSequencing } from '../../src/provenance/log/sequence-log.ts'
import { verifyLog, verifyLogDaily } from '../../src/provenance/log/verify-log.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { ON_ONE_SERVER } from '../support/citus.ts'
import { addLogEntries, logEntry, logMac, removeMacs } from '../support/log-entries.ts'
import { logLines } from '../support/log-lines.ts'
import { extendsLog, includes, openCheckpoint } from '../support/log-reader.ts'
import { plansOf } from '../support/query-plans.ts'

const PROGRAM = new URL('../support/sequencer-program.ts', import.meta.url).pathname
const WAITS_MS_MAX = 60_000

const api: TestApi = await startTestApi()
const { services } = api
const { sql } = services

beforeEach(() => sql`truncate log_entries, log_tiles, log_checkpoints, log_key restart identity`)
after(() => api.close())

async function logSize(): Promise<number> {
  return (await findLogState(sql)).size ?? 0
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WAITS_MS_MAX
  while (performance.now() < end) if (await isTrue()) return
  throw new Error(`It did not happen: ${what}`)
}

async function readCheckpoint() {
  const { note } = await findLogState(sql)
  return openCheckpoint(note ?? '', (await openLogKey(services)).verifierKey)
}

/** A process that extends the log. `await using` kills it. */
function startSequencer() {
  const settings = { SHIPLOCK_DATA_DIR: services.config.dataDir, SHIPLOCK_LOG_LEVEL: 'fatal' }
  const argument = JSON.stringify({ settings, database: api.database })
  const child = spawn(process.execPath, [PROGRAM, argument], { stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(child, 'exit')
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { kill, [Symbol.asyncDispose]: kill }
}

test('a log that two processes extend, one of which is killed repeatedly, has every committed entry once', async () => {
  const random = new SeededRandom(13)
  const adders = openSql(api.database.address, { max: 6, applicationName: 'adders' })
  const committed = new Set<string>()
  const add = async (number: number) => {
    const isRolledBack = random.below(10) === 0
    const adding = adders.begin(async (tx) => {
      await insertLogEntry(tx, logEntry(number), logMac(services, number))
      if (isRolledBack) throw new Error('rolled back')
    })
    await adding.then(
      () => committed.add(logEntry(number).sha256.toString('hex')),
      () => assert.ok(isRolledBack),
    )
  }
  let next = 0
  const addMany = () => Promise.all(Array.from({ length: 150 }, () => add(next++)))
  await using _steady = startSequencer()
  for (let kills = 0; kills < 4; kills += 1) {
    await using killed = startSequencer()
    const before = await logSize()
    await addMany()
    await until('the log grows', async () => (await logSize()) > before)
    await Promise.all([addMany(), killed.kill()])
  }
  await adders.end()
  await until('every entry is in the log', async () => (await logSize()) === committed.size)
  const entries = await listEntries(sql, 0, committed.size + 1)
  assert.deepEqual(
    entries.map(({ leaf_index }) => leaf_index),
    Array.from({ length: committed.size }, (_, at) => at),
  )
  assert.deepEqual(new Set(entries.map(({ sha256 }) => sha256.toString('hex'))), committed)
  assert.deepEqual(await verifyLog(services), [])
})

test('a process that is killed after it has stored tiles leaves the log as it was, and another one goes on', async () => {
  await addLogEntries(services, 0, 300)
  await appendPendingEntries(services)
  const holder = await sql.reserve()
  await holder`begin`
  // Sequencers stop at the last statement of their transaction.
  await holder`lock table log_checkpoints in share row exclusive mode`
  await addLogEntries(services, 300, 10)
  await using killed = startSequencer()
  await until('the sequencer waits', async () => {
    const [row] = await sql<[{ waiting: number }]>`
      select count(*)::int as waiting
      from pg_stat_activity
      where datname = current_database()
        and application_name = 'sequencer'
        and wait_event_type = 'Lock'`
    return row.waiting === 1
  })
  await using _other = startSequencer()
  await killed.kill()
  assert.equal(await logSize(), 300)
  assert.deepEqual(await verifyLog(services), [])
  await holder`rollback`
  holder.release()
  await until('the other sequencer goes on', async () => (await logSize()) === 310)
  assert.deepEqual(await verifyLog(services), [])
})

test('an entry whose transaction commits late comes later, although its id is smaller', async () => {
  const other = openSql(api.database.address, { max: 1, applicationName: 'late' })
  const inserted = Promise.withResolvers<void>()
  const mayCommit = Promise.withResolvers<void>()
  const late = other.begin(async (tx) => {
    await insertLogEntry(tx, logEntry(1), logMac(services, 1))
    inserted.resolve()
    await mayCommit.promise
  })
  await inserted.promise
  await addLogEntries(services, 2, 1)
  await appendPendingEntries(services)
  assert.equal(await logSize(), 1)
  mayCommit.resolve()
  await late
  await other.end()
  assert.equal((await readLogProof(services, logEntry(1))).leaf_index, 1)
  assert.equal((await readLogProof(services, logEntry(2))).leaf_index, 0)
  assert.deepEqual(await verifyLog(services), [])
})

test('adding an entry again has no effect, before and after it is in the log', async () => {
  await addLogEntries(services, 0, 2)
  await addLogEntries(services, 0, 2)
  await appendPendingEntries(services)
  await addLogEntries(services, 0, 2)
  await appendPendingEntries(services)
  assert.equal(await logSize(), 2)
  assert.equal((await listCheckpoints(sql, -1, 100)).length, 2)
})

test('a running worker adds entries without being asked', async () => {
  const sequencing = startSequencing(services)
  await addLogEntries(services, 0, 3)
  await until('the entries are in the log', async () => (await logSize()) === 3)
  await sequencing.close()
})

test('processes that create the log at the same time use one key', async () => {
  const keys = await Promise.all(Array.from({ length: 6 }, () => openLogKey(services)))
  assert.equal(new Set(keys.map(({ verifierKey }) => verifierKey)).size, 1)
})

test('proofs verify for every entry, and from every earlier checkpoint', async () => {
  const random = new SeededRandom(7)
  await openLogKey(services)
  const earlier = [await readCheckpoint()]
  let added = 0
  for (const batch of [1, 1, 5, 250, 255, 300, 4097]) {
    await addLogEntries(services, added, batch)
    added += batch
    await appendPendingEntries(services)
    const checkpoint = await readCheckpoint()
    assert.equal(checkpoint.size, added)
    for (const before of [...earlier, checkpoint]) {
      const entry = logEntry(random.below(added))
      const proof = await readLogProof(services, entry, before.size)
      assert.equal(proof.tree_size, added)
      assert.equal(proof.origin, checkpoint.origin)
      assert.ok(includes(checkpoint, proof), `leaf ${proof.leaf_index} of ${added}`)
      assert.ok(extendsLog(before, checkpoint, proof.consistency_proof ?? []), `${before.size} to ${added}`)
    }
    earlier.push(checkpoint)
  }
})

test('the proof of a pending entry adds it to the log first', async () => {
  await addLogEntries(services, 0, 3)
  const proof = await readLogProof(services, logEntry(2))
  assert.deepEqual([proof.leaf_index, proof.tree_size, proof.consistency_proof], [2, 3, null])
  const hex = logEntry(2).sha256.toString('hex')
  assert.equal(proof.entry, `shiplock.dev/log-entry/v1\nstatement\n${hex}\n`)
  assert.ok(includes(await readCheckpoint(), proof))
})

test('a proof from a size that the log does not have is 400, and one of an unknown entry an error', async () => {
  await addLogEntries(services, 0, 3)
  const tooLarge = readLogProof(services, logEntry(0), 4)
  await assert.rejects(tooLarge, { status: 400, code: 'invalid_request' })
  await assert.rejects(readLogProof(services, logEntry(9)), /has no entry for the change/)
})

test('a log that was rewritten, with the right key, is refused against an earlier checkpoint', async () => {
  await addLogEntries(services, 0, 300)
  await appendPendingEntries(services)
  const before = await readCheckpoint()
  await sql`truncate log_entries, log_tiles restart identity`
  await sql`delete from log_checkpoints where size > 0`
  await addLogEntries(services, 1, 400)
  await appendPendingEntries(services)
  assert.deepEqual(await verifyLog(services), [], 'it is a valid log by itself')
  const proof = await readLogProof(services, logEntry(5), before.size)
  const rewritten = await readCheckpoint()
  assert.ok(includes(rewritten, proof))
  assert.equal(extendsLog(before, rewritten, proof.consistency_proof ?? []), false)
})

const flipped = (at: number) => sql`set_byte(hashes, ${at}, get_byte(hashes, ${at}) # 1)`
const TAMPERED: [what: string, tamper: () => PromiseLike<unknown>, first: object][] = [
  [
    'a changed entry',
    () => sql`update log_entries set sha256 = sha256(sha256) where leaf_index = 5`,
    { resource: 'tile/0/000', index: 5 },
  ],
  [
    'the kind of an entry',
    () => sql`update log_entries set kind = 'change' where leaf_index = 301`,
    { resource: 'tile/0/001', index: 301 },
  ],
  [
    'a deleted entry',
    () => sql`delete from log_entries where leaf_index = 301`,
    { resource: 'tile/entries/001', index: 301, found: null },
  ],
  [
    'a changed full tile',
    () => sql`update log_tiles set hashes = ${flipped(320)} where level = 0 and index = 0`,
    { resource: 'tile/0/000', index: 10 },
  ],
  [
    'a changed tile of level 1',
    () => sql`update log_tiles set hashes = ${flipped(0)} where level = 1`,
    { resource: 'tile/1/000', index: 0 },
  ],
  [
    'a deleted tile',
    () => sql`delete from log_tiles where level = 0 and index = 1`,
    { resource: 'tile/0/001', index: 256, expected: null },
  ],
  [
    'a shortened tile',
    () => sql`update log_tiles set hashes = substring(hashes from 1 for 32) where level = 0 and index = 1`,
    { resource: 'tile/0/001', index: 257, expected: null },
  ],
  [
    'a changed root',
    () => sql`update log_checkpoints set root_hash = sha256(root_hash) where size = 100`,
    { resource: 'checkpoint', index: 100, expected: null },
  ],
  [
    'a changed signature',
    () => sql`update log_checkpoints set note = replace(note, '— ', '— x') where size = 310`,
    { resource: 'checkpoint', index: 310, expected: null },
  ],
  ['deleted checkpoints', () => sql`delete from log_checkpoints`, { resource: 'checkpoint', index: 0 }],
  ['a deleted key', () => sql`delete from log_key`, { resource: 'key', index: 0 }],
]

for (const [what, tamper, first] of TAMPERED) {
  test(`the verification finds ${what}`, async () => {
    await addLogEntries(services, 0, 100)
    await appendPendingEntries(services)
    await addLogEntries(services, 100, 210)
    await appendPendingEntries(services)
    const progress: [number, number][] = []
    assert.deepEqual(await verifyLog(services, (...seen) => progress.push(seen)), [])
    assert.deepEqual(progress, [[310, 310]])
    await tamper()
    const breaks = await verifyLog(services)
    assert.ok(breaks.length > 0)
    assert.partialDeepStrictEqual(
      breaks.find(({ resource }) => resource === (first as { resource: string }).resource),
      first,
    )
  })
}

for (const [what, tamper] of [
  ['its last tile', () => sql`update log_tiles set hashes = ${flipped(40)} where level = 0 and index = 1`],
  ['its newest root', () => sql`update log_checkpoints set root_hash = sha256(root_hash) where size = 310`],
  ['its newest checkpoint', () => sql`update log_checkpoints set note = replace(note, '310', '311') where size = 310`],
] as const) {
  test(`a log is not extended after a change of ${what}`, async () => {
    await addLogEntries(services, 0, 310)
    await appendPendingEntries(services)
    await tamper()
    await addLogEntries(services, 310, 1)
    await assert.rejects(appendPendingEntries(services), /contradict|was not signed by this server/)
    assert.equal(await logSize(), 310)
  })
}

/** A log of 100, 310 and 330 entries, and its newest checkpoint, which a reader keeps. */
async function growLog() {
  for (const [first, count] of [
    [0, 100],
    [100, 210],
    [310, 20],
  ] as const) {
    await addLogEntries(services, first, count)
    await appendPendingEntries(services)
  }
  return readCheckpoint()
}

const LOST: [what: string, lose: () => PromiseLike<unknown>, left: number | null][] = [
  ['the newest checkpoint', () => sql`delete from log_checkpoints where size = 330`, 310],
  ['the newest two checkpoints', () => sql`delete from log_checkpoints where size > 100`, 100],
  ['all checkpoints', () => sql`delete from log_checkpoints`, null],
]
for (const [what, lose, left] of LOST) {
  test(`without ${what}, the verification fails, and the next entry extends the log that readers know`, async () => {
    const before = await growLog()
    await lose()
    const lost = { resource: 'checkpoint', index: 330, expected: null, found: before.root.toString('hex') }
    assert.deepEqual(await verifyLog(services), left === null ? [{ ...lost, index: 0, found: null }] : [lost])
    const { log, lines } = logLines()
    await addLogEntries(services, 330, 1)
    await appendPendingEntries({ ...services, log })
    assert.partialDeepStrictEqual(lines, [{ level: 50, size: left, length: 330 }])
    const proof = await readLogProof(services, logEntry(330), before.size)
    const newest = await readCheckpoint()
    assert.deepEqual([proof.leaf_index, newest.size], [330, 331])
    assert.ok(includes(newest, proof))
    assert.ok(extendsLog(before, newest, proof.consistency_proof ?? []))
    assert.deepEqual(await verifyLog(services), [])
  })
}

test('a proof without a new entry signs the lost checkpoint again, once', async () => {
  const before = await growLog()
  await sql`delete from log_checkpoints where size = 330`
  const proofs = await Promise.all(
    [5, 320].flatMap((n) => [1, 2, 3].map(() => readLogProof(services, logEntry(n), 330))),
  )
  for (const proof of proofs) {
    assert.deepEqual([proof.tree_size, proof.consistency_proof], [330, []])
    assert.ok(includes(before, proof))
  }
  assert.deepEqual(await readCheckpoint(), before)
})

const IRRECOVERABLE: [what: string, tamper: () => PromiseLike<unknown>, found: object][] = [
  [
    'an entry was changed',
    () => sql`update log_entries set sha256 = sha256(sha256) where leaf_index = 320`,
    { resource: 'tile/0/001', index: 320 },
  ],
  [
    'an entry was deleted',
    () => sql`delete from log_entries where leaf_index = 320`,
    { resource: 'checkpoint', index: 330, expected: null, found: null },
  ],
  [
    'the last entry was deleted',
    () => sql`delete from log_entries where leaf_index = 329`,
    { resource: 'checkpoint', index: 330, expected: null, found: null },
  ],
  [
    'entries lost their positions',
    () => sql`update log_entries set leaf_index = null where leaf_index >= 310`,
    { resource: 'checkpoint', index: 330, expected: null, found: null },
  ],
  [
    'the tiles were cut',
    () => sql`update log_tiles set hashes = substring(hashes from 1 for 54 * 32) where level = 0 and index = 1`,
    { resource: 'tile/0/001', index: 310, expected: null },
  ],
  [
    'a tile was deleted',
    () => sql`delete from log_tiles where level = 0 and index = 1`,
    { resource: 'tile/0/001', index: 256, expected: null },
  ],
  [
    'the tiles were changed below it',
    () => sql`update log_tiles set hashes = ${flipped(40)} where level = 0 and index = 1`,
    { resource: 'tile/0/001', index: 257 },
  ],
]
for (const [what, change, found] of IRRECOVERABLE) {
  test(`a lost checkpoint is not signed again if ${what}: nothing is numbered, and proofs are 503`, async () => {
    await growLog()
    await sql`delete from log_checkpoints where size = 330`
    await change()
    const breaks = await verifyLog(services)
    assert.ok(breaks.some(({ resource, index }) => resource === 'checkpoint' && index === 330))
    const { resource } = found as { resource: string }
    assert.partialDeepStrictEqual(
      breaks.find((one) => one.resource === resource),
      found,
    )
    await addLogEntries(services, 330, 1)
    for (const number of [5, 330]) {
      const refused = readLogProof(services, logEntry(number))
      await assert.rejects(refused, { status: 503, code: 'unavailable', message: /transparency log/ })
    }
    assert.equal(await logSize(), 310)
  })
}

test('a loss of more than 16,384 entries is reported, because a request must not sign so many again', async () => {
  await addLogEntries(services, 0, 1)
  await appendPendingEntries(services)
  await sql`
    insert into log_entries (kind, sha256)
    select 'change', sha256(nth::text::bytea)
    from generate_series(1, 16385) as nth`
  // As after an upgrade: entries of earlier versions have no mac.
  await removeMacs(services)
  await appendPendingEntries(services)
  await sql`delete from log_checkpoints where size > 1`
  await assert.rejects(appendPendingEntries(services), { status: 503, message: /lost/ })
  assert.equal(await logSize(), 1)
  const [found] = await verifyLog(services)
  assert.deepEqual([found?.resource, found?.index], ['checkpoint', 16_386])
})

test('the verification stops when its signal is aborted', async () => {
  await addLogEntries(services, 0, 1)
  await appendPendingEntries(services)
  await assert.rejects(verifyLog(services, undefined, AbortSignal.abort(new Error('stopped'))), /stopped/)
})

test('the daily job logs what contradicts the log', async () => {
  await addLogEntries(services, 0, 3)
  await appendPendingEntries(services)
  const { log, lines } = logLines()
  await verifyLogDaily.run({ ...services, log }, {})
  assert.deepEqual(lines, [])
  await sql`update log_entries set kind = 'statement' where leaf_index = 0`
  await verifyLogDaily.run({ ...services, log }, {})
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    Array.from({ length: 3 }, () => [50, 'The stored transparency log contradicts itself']),
  )
  assert.ok(scheduledJobs.includes(verifyLogDaily))
})

test('a search for pending entries reads only these, whatever the statistics say', ON_ONE_SERVER, async () => {
  await sql`alter table log_entries set (autovacuum_enabled = false)`
  await addLogEntries(services, 0, 2000)
  await appendPendingEntries(services)
  await addLogEntries(services, 2000, 2000)
  // From now on, half of all entries seem to be pending.
  await sql`analyze log_entries`
  await appendPendingEntries(services)
  const nodes = await plansOf(api, (own) => hasPendingEntries(own))
  assert.deepEqual(
    nodes.map((node) => node['Index Name']).filter((name) => name !== undefined),
    ['log_entries_pending'],
  )
  assert.equal(await hasPendingEntries(sql), false)
})
