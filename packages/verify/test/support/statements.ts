import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import canonicalize from 'canonicalize'

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const COMMIT = '8c5f0e1d2b3a49586776655443322110ffeeddcc'
const REPOSITORY = 'git+https://github.com/acme/shop'

export const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

export type TestKey = { keyid: string; pem: string; privateKey: KeyObject }

export function makeKey(namedCurve = 'P-256'): TestKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
  return {
    keyid: sha256(publicKey.export({ type: 'spki', format: 'der' })),
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privateKey,
  }
}

/** Signs any payload as a DSSE envelope. */
export function signPayload(key: TestKey, payload: string, payloadType = PAYLOAD_TYPE) {
  const bytes = Buffer.from(payload)
  const encoded = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes.length} ${payload}`
  const sig = sign('sha256', Buffer.from(encoded), key.privateKey).toString('base64')
  return { payloadType, payload: bytes.toString('base64'), signatures: [{ keyid: key.keyid, sig }] }
}

export type Envelope = ReturnType<typeof signPayload>

export function signStatement(key: TestKey, statement: object): Envelope {
  return signPayload(key, JSON.stringify(statement))
}

/** The `data` of the API, with `?bundle=true`. */
export function dataOf(envelope: Envelope, log: object) {
  const { payloadType, payload, signatures } = envelope
  return {
    envelope,
    statement_digest: `sha256:${sha256(Buffer.from(payload, 'base64'))}`,
    bundle: {
      mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
      verificationMaterial: { publicKey: { hint: signatures[0]?.keyid } },
      dsseEnvelope: { payloadType, payload, signatures: [{ sig: signatures[0]?.sig }] },
    },
    unsigned: { log },
  }
}

const ACCOUNT = { id: '11', login: 'mona', is_bot: false }
const REVIEWER = { id: '12', login: 'hubot', is_bot: false }
const PERSON = { name: 'Mona', email: 'mona@example.com', id: '11', login: 'mona' }

/** The record of a pull request that one person reviewed. */
export const RECORD = {
  version: 1,
  id: 'chg_01M7XW6PFQB49V9HQNVG3BWK57',
  repository: { provider: 'github', host: 'github.com', id: '1001', full_name: 'acme/shop' },
  branch: 'main',
  landed_by: 'pull_request',
  landed_at: '2026-11-20T10:00:00.000Z',
  commits: {
    head: '1'.repeat(40),
    base: '2'.repeat(40),
    merge: COMMIT,
    list: [{ sha: '1'.repeat(40), author: PERSON, committer: PERSON, signature: null }],
    complete: true,
  },
  pull_request: {
    number: 7,
    title: 'Faster checkout – “quotes”',
    url: 'https://github.com/acme/shop/pull/7',
    author: ACCOUNT,
    opened_at: '2026-11-19T10:00:00.000Z',
    merged_at: '2026-11-20T10:00:00.000Z',
    merged_by: ACCOUNT,
  },
  pusher: null,
  forced: false,
  reviews: [
    {
      id: '5',
      reviewer: REVIEWER,
      state: 'approved',
      commit_sha: '1'.repeat(40),
      submitted_at: '2026-11-20T09:00:00.000Z',
      stale: false,
    },
  ],
  branch_rules: null,
  checks: [
    {
      name: 'test',
      source: 'check_run',
      status: 'success',
      required: null,
      commit_sha: '1'.repeat(40),
      url: null,
      completed_at: null,
    },
  ],
  runs: [],
  code_owners: null,
  security: null,
  deviations: ['unsigned_commit'],
}

/** Links a body to the hash of the link before it. */
export function linkOf(index: number, previous: string | null, body: object) {
  const hash = createHash('sha256')
    .update(previous === null ? Buffer.alloc(32) : Buffer.from(previous, 'hex'))
    .update(canonicalize(body) ?? '')
    .digest('hex')
  return { index, hash, previous_hash: previous }
}

/** The statement of a change at link 3 of its chain, with one amendment right after it. */
export function changeStatement(record: object = RECORD) {
  const chain = linkOf(3, 'ab'.repeat(32), record)
  const facts = { review: { ...RECORD.reviews[0], id: '6', state: 'commented' }, deviations: ['unsigned_commit'] }
  const amendment = { change: RECORD.id, at: '2026-11-21T10:00:00.000Z', kind: 'review', facts }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: REPOSITORY, digest: { gitCommit: COMMIT } }],
    predicateType: 'https://shiplock.dev/change-record/v1',
    predicate: { record, amendments: [{ ...amendment, chain: linkOf(4, chain.hash, amendment) }], chain },
  }
}

/** A summary of a passed verification. */
export function summaryStatement(predicate: object = {}) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: REPOSITORY, digest: { gitCommit: COMMIT } }],
    predicateType: 'https://slsa.dev/verification_summary/v1',
    predicate: {
      verifier: { id: 'https://shiplock.dev/verifier/v1', version: { shiplock: '0.1.0' } },
      timeVerified: '2026-11-21T10:00:00.000Z',
      resourceUri: `${REPOSITORY}?environment=production`,
      policy: { uri: 'https://shiplock.example.com/v1/policies', digest: { sha256: sha256('[]') } },
      inputAttestations: [{ uri: 'https://shiplock.example.com/x', digest: { sha256: sha256('x') } }],
      verificationResult: 'PASSED',
      verifiedLevels: ['SHIPLOCK_REVIEWED', 'SHIPLOCK_GATED'],
      slsaVersion: '1.2',
      ...predicate,
    },
  }
}

const STEP = {
  id: 'dep_1',
  trust: 'verified',
  environment: 'production',
  status: 'success',
  approvals: [
    {
      decision: 'approved',
      principal: { type: 'api_key', id: 'key_1', name: 'release' },
      reason: 'Tested on staging',
      comment: null,
      at: '2026-11-20T11:00:00.000Z',
    },
  ],
  reviews: [{ reviewer: 'hubot', state: 'approved', comment: null, at: null }],
  policies: {
    decision: 'block',
    policies: [{ id: 'p1', name: 'no-critical', version: 3, mode: 'enforce', decision: 'block' }],
  },
  override: { by: 'mona', reason: 'Hotfix', at: '2026-11-20T11:30:00.000Z' },
  bypass: { at: '2026-11-20T11:40:00.000Z', actor: null, gates: ['wait_timer'] },
  deployed_at: '2026-11-20T12:00:00.000Z',
}

/** The path of an artifact with these bytes to production, by way of staging. */
export function pathStatement(artifact = 'artifact', predicate: object = {}) {
  const digest = sha256(artifact)
  const earlier = { id: 'dep_0', environment: 'staging', approvals: [], reviews: [], policies: null }
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: REPOSITORY, digest: { gitCommit: COMMIT } },
      { name: 'dist/shop.tgz', digest: { sha256: digest } },
    ],
    predicateType: 'https://shiplock.dev/promotion-path/v1',
    predicate: {
      repository: RECORD.repository,
      commit: COMMIT,
      change: {
        id: RECORD.id,
        record: { ...RECORD, merge_sha: COMMIT },
        amendments: [],
        chain: linkOf(3, 'ab'.repeat(32), RECORD),
      },
      runs: [{ id: 'run_1', trust: 'verified', pipeline_name: 'build', attempts: [{ number: 1, status: 'success' }] }],
      runs_omitted: 0,
      artifacts: [{ path: 'dist/shop.tgz', size: artifact.length, sha256: digest, attempt: 1 }],
      artifacts_omitted: 2,
      earlier_deployments: [{ ...STEP, ...earlier, override: null, bypass: null }],
      earlier_deployments_omitted: 0,
      deployment: STEP,
      ...predicate,
    },
  }
}
