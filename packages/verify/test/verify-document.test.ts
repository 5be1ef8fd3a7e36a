import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TestLog } from './support/log.ts'
import {
  changeStatement,
  dataOf,
  linkOf,
  makeKey,
  pathStatement,
  RECORD,
  sha256,
  signStatement,
  summaryStatement,
} from './support/statements.ts'
import { failuresOf, verifyWith } from './support/verify.ts'

const key = makeKey()

/** A log of 11 entries, with the statement at index 4, and a checkpoint of its first 5 entries. */
function publish(statement: object) {
  const envelope = signStatement(key, statement)
  const log = new TestLog()
  for (let entry = 0; entry < 4; entry++) log.add('change', sha256(String(entry)))
  const index = log.add('statement', sha256(Buffer.from(envelope.payload, 'base64')))
  const checkpoint = log.checkpoint()
  for (let entry = 5; entry < 11; entry++) log.add('change', sha256(String(entry)))
  return { envelope, log, checkpoint, data: dataOf(envelope, log.proof(index, 5)) }
}

const { envelope, log, checkpoint, data } = publish(changeStatement())

test('a change statement is verified in every form, with its log proof and a kept checkpoint', async () => {
  for (const document of [envelope, data, { data }, data.bundle])
    assert.deepEqual(failuresOf(await verifyWith({ key }, document)), [])
  const verification = await verifyWith({ key, log, checkpoint }, { data })
  assert.deepEqual(failuresOf(verification), [])
  assert.equal(verification.verified, true)
  assert.deepEqual(
    verification.checks.map(({ name }) => name),
    [
      'form',
      'signature',
      'payload type',
      'digest',
      'statement',
      'subject',
      'chain',
      'amendments',
      'contents',
      'log entry',
      'log inclusion',
      'log checkpoint',
      'log consistency',
    ],
  )
  assert.deepEqual(verification.warnings, [])
})

test('the change is described in plain words', async () => {
  assert.deepEqual((await verifyWith({ key }, envelope)).statement?.says, [
    `Change ${RECORD.id} landed on main of github.com/acme/shop by a pull request at 2026-11-20T10:00:00.000Z.`,
    'Pull request #7 "Faster checkout – “quotes”", opened by mona, merged by mona at 2026-11-20T10:00:00.000Z.',
    `Commits: 1, ending with ${RECORD.commits.merge}, by mona.`,
    `Review by hubot: approved of commit ${'1'.repeat(40)} at 2026-11-20T09:00:00.000Z.`,
    'Checks: 1 of 1 successful.',
    'Deviations: unsigned_commit (a commit without a verified signature).',
    'Added later, at 2026-11-21T10:00:00.000Z: a review.',
  ])
})

test('a statement without a log key has a warning, and without a proof it is refused if a log key is given', async () => {
  assert.match((await verifyWith({ key }, data)).warnings.join(), /checkpoint's signature was not checked/)
  assert.match(failuresOf(await verifyWith({ key, log }, envelope)).join(), /log: the proof of the log is missing/)
})

test('a statement about another subject than the expected one is refused', async () => {
  const commit = `gitCommit:${RECORD.commits.merge}`
  assert.deepEqual(failuresOf(await verifyWith({ key, subjects: [commit] }, envelope)), [])
  const failures = failuresOf(await verifyWith({ key, subjects: [commit, `sha256:${'0'.repeat(64)}`] }, envelope))
  assert.match(failures.join(), /^expected subject: the statement is not about sha256:0/)
})

test('an unknown predicate type has a warning', async () => {
  const unknown = { ...changeStatement(), predicateType: 'https://example.com/other/v1' }
  const verification = await verifyWith({ key }, signStatement(key, unknown))
  assert.equal(verification.verified, true)
  assert.match(verification.warnings.join(), /other\/v1 is unknown/)
})

test('any changed byte of a document is refused', async () => {
  const bytes = Buffer.from(JSON.stringify({ data }))
  for (let at = 0; at < bytes.length; at++)
    assert.equal(
      (await verifyWith({ key, log, checkpoint }, flip(bytes, at, 1 << (at % 8)))).verified,
      false,
      `byte ${at}`,
    )
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
      assert.equal((await verifyWith({ key, log, checkpoint }, flip(bytes, at, mask))).verified, false)
    }),
    { numRuns: 1000 },
  )
})

function flip(bytes: Buffer, at: number, mask: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[at] = (changed[at] as number) ^ mask
  return changed
}

test('any changed byte of the kept checkpoint is refused', async () => {
  const bytes = Buffer.from(checkpoint)
  for (let at = 0; at < bytes.length; at++) {
    for (const mask of [1, 2, 4, 8, 16, 32, 64, 128]) {
      const verification = await verifyWith({ key, log, checkpoint: flip(bytes, at, mask).toString() }, data)
      assert.match(failuresOf(verification).join(), /^log consistency: /, `byte ${at} ^ ${mask}`)
    }
  }
})

test('an added field is refused in every form', async () => {
  const forms = [{ data }, data, envelope, data.bundle]
  for (const form of forms) {
    assert.equal((await verifyWith({ key }, form)).verified, true)
    const added = await verifyWith({ key }, { ...form, payload_digest: 'x' })
    assert.match(failuresOf(added)[0] ?? '', /^form: .*payload_digest is not a known field/)
  }
})

test('any removed or doubled byte of a document is refused', async () => {
  const bytes = Buffer.from(JSON.stringify(data))
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.boolean(), async (at, isRemoved) => {
      const rest = bytes.subarray(isRemoved ? at + 1 : at)
      const changed = Buffer.concat([bytes.subarray(0, isRemoved ? at : at + 1), rest])
      // Removing one of two equal bytes, or one of two equal digits at the end, gives other bytes.
      if (!changed.equals(bytes)) assert.equal((await verifyWith({ key, log, checkpoint }, changed)).verified, false)
    }),
    { numRuns: 1000 },
  )
})

const REFUSED: [what: string, statement: object, failure: RegExp][] = [
  ['a record that does not fit its hash', changeRecord({ branch: 'release' }), /^chain: the hash of the record is/],
  ['a subject of another commit', subject({ gitCommit: '3'.repeat(40) }), /^subject: the subject is commit 3/],
  ['a subject of another repository', named('git+https://github.com/acme/other'), /^subject: the subject is git/],
  [
    'a digest of another length',
    subject({ gitCommit: 'abc' }),
    /^statement: subject\[0\]\.digest\.gitCommit must be 40/,
  ],
  ['two commits', { ...changeStatement(), subject: [1, 2].map(() => changeStatement().subject[0]) }, /one commit/],
  ['no subject', { ...changeStatement(), subject: [] }, /^statement: subject must be a list/],
  ['another statement type', { ...changeStatement(), _type: 'https://in-toto.io/Statement/v0.1' }, /^statement: _type/],
  ['an amendment of another change', amended({ change: 'chg_other' }), /^amendments: an amendment is about another/],
  ['a changed amendment', amended({ at: '2026-11-22T10:00:00.000Z' }), /^amendments: the hash of the amendment/],
  ['an amendment before its record', amendedAt(2), /^amendments: the amendments are not in the order/],
  ['a next link with another previous hash', amendedAt(4, 'cd'.repeat(32)), /^amendments: link 4 does not follow/],
  ['a first link with a previous hash', chained({ index: 0 }), /^chain: predicate\.chain\.previous_hash must be null/],
  ['a predicate without a record', { ...changeStatement(), predicate: { amendments: [] } }, /record must be an object/],
  ['a path of another commit', pathStatement('a', { commit: '3'.repeat(40) }), /^subject: .* the path is of 3/],
  ['a path without an artifact', pathStatement('a', { artifacts: [] }), /^artifacts: the subjects and the artifacts/],
  ['a path with another artifact', pathStatement('a', { artifacts: [{ sha256: 'b' }] }), /^artifacts: the subjects/],
  ['a path without a deployment', pathStatement('a', { deployment: null }), /^contents: predicate\.deployment must/],
  ['a failed verdict with levels', summaryStatement({ verificationResult: 'FAILED' }), /^verdict: a failed/],
  ['a passed verdict with FAILED', summaryStatement({ verifiedLevels: ['FAILED'] }), /^verdict: a passed/],
  ['another verdict', summaryStatement({ verificationResult: 'MAYBE' }), /^verdict: .*PASSED or FAILED/],
  ['another resource', summaryStatement({ resourceUri: 'git+https://github.com/acme/other' }), /^subject: /],
  ['another verifier', summaryStatement({ verifier: { id: 'https://example.com' } }), /^contents: .*verifier\.id/],
  ['a summary without a time', summaryStatement({ timeVerified: 'today' }), /^contents: .*timeVerified/],
]

for (const [what, statement, failure] of REFUSED) {
  test(`a signed statement with ${what} is refused`, async () => {
    const verification = await verifyWith({ key }, signStatement(key, statement))
    assert.equal(verification.verified, false)
    assert.equal(verification.statement, null)
    assert.match(failuresOf(verification)[0] ?? '', failure)
  })
}

test('a record that does not fit its hash is accepted if the statement names this break', async () => {
  const changed = changeRecord({ title: 'another' })
  const { chain, record } = changed.predicate
  const found = linkOf(chain.index, chain.previous_hash, record).hash
  const acknowledged = { acknowledged_at: '2026-11-22T10:00:00.000Z', note: 'An operator edited the row' }
  const named = { index: chain.index, expected: chain.hash, found, found_at: '2026-11-21T10:00:00.000Z' }
  const verify = (...breaks: object[]) =>
    verifyWith({ key }, signStatement(key, { ...changed, predicate: { ...changed.predicate, breaks } }))
  const verification = await verify({ ...named, ...acknowledged })
  assert.deepEqual(failuresOf(verification), [])
  const detail = 'the record is link 3 of its chain, and its hash is wrong: the statement names this break'
  assert.equal(verification.checks.find(({ name }) => name === 'chain')?.detail, detail)
  assert.match(verification.statement?.says.at(-1) ?? '', /broken at link 3.* "An operator edited the row"/)
  const other = { ...named, ...acknowledged }
  const others = [
    { ...named, acknowledged_at: null },
    { ...other, index: 4 },
    { ...other, found: 'cd'.repeat(32) },
    { ...other, found: null },
    { ...other, expected: 'cd'.repeat(32) },
  ]
  for (const one of others) assert.match(failuresOf(await verify(one))[0] ?? '', /^chain: the hash of the record is/)
})

test('an amendment that does not follow its link is accepted if the statement names this break', async () => {
  const { predicate, ...statement } = amendedAt(4, 'cd'.repeat(32))
  const named = {
    index: 4,
    expected: predicate.chain.hash,
    found: 'cd'.repeat(32),
    found_at: '2026-11-21T10:00:00.000Z',
  }
  const breaks = [{ ...named, acknowledged_at: '2026-11-22T10:00:00.000Z', note: 'Restored' }]
  const verification = await verifyWith(
    { key },
    signStatement(key, { ...statement, predicate: { ...predicate, breaks } }),
  )
  assert.deepEqual(failuresOf(verification), [])
  const { detail = '' } = verification.checks.find(({ name }) => name === 'amendments') ?? {}
  assert.match(detail, /^1, up to link 4 of the chain, and the statement names the breaks/)
})

test('a promotion path is described', async () => {
  const verification = await verifyWith({ key }, signStatement(key, pathStatement()))
  assert.deepEqual(failuresOf(verification), [])
  assert.deepEqual(verification.statement?.says, [
    `Commit ${RECORD.commits.merge} of github.com/acme/shop.`,
    `Change ${RECORD.id} landed at 2026-11-20T10:00:00.000Z as ${RECORD.commits.merge}.`,
    `Review by hubot: approved of commit ${'1'.repeat(40)} at 2026-11-20T09:00:00.000Z.`,
    'Deviations: unsigned_commit (a commit without a verified signature).',
    'Run run_1 of build: attempt 1 success.',
    `Artifact dist/shop.tgz: sha256:${sha256('artifact')}.`,
    'Earlier deployment dep_0 to staging: success, deployed at 2026-11-20T12:00:00.000Z.',
    'This deployment dep_1 to production: success, deployed at 2026-11-20T12:00:00.000Z.',
    '  approved by api key "release" at 2026-11-20T11:00:00.000Z: "Tested on staging".',
    '  hubot: approved.',
    '  Policy no-critical, version 3 (enforce): block.',
    '  Policies overridden by mona at 2026-11-20T11:30:00.000Z: "Hotfix".',
    '  Bypassed by unknown at 2026-11-20T11:40:00.000Z: wait_timer.',
    'The statement leaves out 2 more artifacts.',
  ])
})

test('a path of a commit without a change is described', async () => {
  const verification = await verifyWith({ key }, signStatement(key, pathStatement('artifact', { change: null })))
  assert.equal(verification.statement?.says[1], 'The statement names no change record of the commit.')
})

test('a summary is described', async () => {
  const failed = summaryStatement({ verificationResult: 'FAILED', verifiedLevels: ['FAILED'] })
  const verification = await verifyWith({ key }, signStatement(key, failed))
  assert.deepEqual(failuresOf(verification), [])
  assert.equal(
    verification.statement?.says[0],
    'Verdict FAILED for git+https://github.com/acme/shop, environment production.',
  )
})

function changeRecord(changes: object) {
  const statement = changeStatement()
  return { ...statement, predicate: { ...statement.predicate, record: { ...RECORD, ...changes } } }
}

function subject(digest: object) {
  const statement = changeStatement()
  return { ...statement, subject: [{ ...statement.subject[0], digest }] }
}

function named(name: string) {
  const statement = changeStatement()
  return { ...statement, subject: [{ ...statement.subject[0], name }] }
}

function chained(chain: object) {
  const statement = changeStatement()
  return { ...statement, predicate: { ...statement.predicate, chain: { ...statement.predicate.chain, ...chain } } }
}

function amended(changes: object) {
  const statement = changeStatement()
  const amendments = statement.predicate.amendments.map((amendment) => ({ ...amendment, ...changes }))
  return { ...statement, predicate: { ...statement.predicate, amendments } }
}

/**
 * The amendment's own hash is right for its new position; only its relation to the record is wrong.
 */
function amendedAt(index: number, previous?: string) {
  const statement = changeStatement()
  const [{ chain, ...body }] = statement.predicate.amendments as [(typeof statement.predicate.amendments)[0]]
  return amended({ chain: linkOf(index, previous ?? chain.previous_hash, body) })
}

/**
 * A path of the present version: its artifacts have lanes, and one was added after the decision.
 */
function lanePath(fields: object = {}, subject?: object[]) {
  const { subject: subjects, predicate, ...statement } = pathStatement()
  const [artifact] = predicate.artifacts
  const at = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`
  const artifacts = [
    { ...artifact, trust: 'verified', completed_at: at(1) },
    { ...artifact, path: 'notes', sha256: sha256('notes'), trust: 'self_reported', completed_at: at(1) },
    { ...artifact, path: 'strange', sha256: sha256('strange'), trust: 'untrusted', completed_at: at(1) },
    { ...artifact, path: 'late', sha256: sha256('late'), trust: 'verified', completed_at: at(3) },
  ]
  const stated = { ...predicate, commit_trust: 'verified', decided_at: at(2), artifacts, amendments: [], ...fields }
  return signStatement(key, { ...statement, subject: subject ?? subjects, predicate: stated })
}

test('artifacts of other lanes are no subjects; a class has to be allowed, and that of strangers cannot be', async () => {
  assert.deepEqual(failuresOf(await verifyWith({ key, subjects: [`sha256:${sha256('artifact')}`] }, lanePath())), [])
  const notes = [`sha256:${sha256('notes')}`]
  assert.match(failuresOf(await verifyWith({ key, subjects: notes }, lanePath())).join(), /is only self_reported/)
  const allowed = await verifyWith({ key, subjects: notes, classes: ['self_reported'] }, lanePath())
  assert.deepEqual(failuresOf(allowed), [])
  for (const name of ['strange', 'never', 'late']) {
    const given = { key, subjects: [`sha256:${sha256(name)}`], classes: ['self_reported'] }
    assert.match(failuresOf(await verifyWith(given, lanePath())).join(), /expected subject/, name)
  }
})

test('a path is refused if a subject is not verified, or a self-reported commit is not named as such', async () => {
  const [commit, artifact] = pathStatement().subject
  const added = { name: 'notes', digest: { sha256: sha256('notes') } }
  assert.match(
    failuresOf(await verifyWith({ key }, lanePath({}, [commit, artifact, added] as object[]))).join(),
    /the subjects and the artifacts of the path differ/,
  )
  const reported = { commit_trust: 'self_reported', artifacts: [] }
  assert.match(
    failuresOf(await verifyWith({ key }, lanePath(reported, [commit as object]))).join(),
    /subject is verified/,
  )
  const annotated = { ...commit, annotations: { trust: 'self_reported' } }
  assert.deepEqual(failuresOf(await verifyWith({ key }, lanePath(reported, [annotated]))), [])
  const expected = [`gitCommit:${commit?.digest.gitCommit}`]
  const refused = await verifyWith({ key, subjects: expected }, lanePath(reported, [annotated]))
  assert.match(failuresOf(refused).join(), /is only self_reported.*--allow-class self_reported/)
  assert.deepEqual(
    failuresOf(await verifyWith({ key }, lanePath({ commit_trust: 'self_reported' }, [artifact as object]))),
    [],
  )
})

test('verified subjects of reports and gates are subjects: the newest of each name, complete when it was decided', async () => {
  const at = (minute: number) => `2026-11-20T10:0${minute}:00.000Z`
  const image = (of: string, fields: object = {}) => ({
    ...{ name: 'ghcr.io/acme/shop', sha256: sha256(of), source: 'report', attempt: 1, trust: 'verified' },
    ...{ stated_at: at(1), ...fields },
  })
  const subjects = [
    image('older', { stated_at: at(0) }),
    image('image'),
    image('late', { stated_at: at(3) }),
    image('key', { name: 'key', trust: 'self_reported' }),
    image('gate', { source: 'gate', attempt: null }),
  ]
  const named = (of: string) => ({ name: 'ghcr.io/acme/shop', digest: { sha256: sha256(of) } })
  const path = pathStatement().subject
  const verify = (...of: string[]) => verifyWith({ key }, lanePath({ subjects }, [...path, ...of.map(named)]))
  assert.deepEqual(failuresOf(await verify('image', 'gate')), [])
  for (const others of [['image'], ['image', 'gate', 'key'], ['image', 'gate', 'older'], ['image', 'gate', 'late']])
    assert.match(failuresOf(await verify(...others)).join(), /differ/, others.join())
  const given = { key, subjects: [`sha256:${sha256('key')}`] }
  const document = lanePath({ subjects }, [...path, named('image'), named('gate')])
  assert.match(failuresOf(await verifyWith(given, document)).join(), /is only self_reported/)
})
