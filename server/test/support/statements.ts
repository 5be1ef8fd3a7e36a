import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { PUBLISHED_PREDICATES } from '../../src/provenance/statements/predicate.schema.ts'
import type { Answer, Caller, TestApi } from './api.ts'
import { assertError } from './assert-error.ts'
import type { Json } from './json.ts'

const ajv = new Ajv2020({ allErrors: true })
addFormats.default(ajv)

const VSA = 'https://slsa.dev/verification_summary/v1'
const CHECKS = new Map<string, ValidateFunction>(
  PUBLISHED_PREDICATES.map(({ schema }) => [(schema as { $id?: string }).$id ?? '', ajv.compile(schema)]),
)

export type StatementPath = 'lineage/statement' | 'verification'

/** Asks for a statement of a deployment. */
export function askStatement(api: TestApi, { key }: Caller, id: string, path: StatementPath): Promise<Answer> {
  return api.request('GET', `/v1/provenance/deployments/${id}/${path}`, { key })
}

/**
 * Returns the lineage statement or verification summary of a deployment after checking its form.
 */
export async function getStatement(api: TestApi, caller: Caller, id: string, path: StatementPath): Promise<Json> {
  return openStatement(await askStatement(api, caller, id, path))
}

/** An error that says why there is no statement: 409 `statement_unavailable` or 404 `not_found`. */
export function assertReason(answer: Answer, status: 404 | 409, reason: string): void {
  const code = status === 404 ? 'not_found' : 'statement_unavailable'
  assert.deepEqual(assertError(answer, status, code), { reason })
}

/** The statement of a 200. Its predicate fits its published schema, or the rules of SLSA. */
export function openStatement({ status, body, text }: Answer): Json {
  assert.equal(status, 200, text)
  const { envelope, statement_digest } = body.data
  const payload = Buffer.from(envelope.payload, 'base64')
  assert.equal(statement_digest, `sha256:${createHash('sha256').update(payload).digest('hex')}`)
  const statement = JSON.parse(payload.toString())
  assert.equal(statement._type, 'https://in-toto.io/Statement/v1')
  if (statement.predicateType === VSA) assertSummary(statement.predicate)
  else assertPredicate(statement)
  return statement
}

function assertPredicate({ predicateType, predicate }: Json): void {
  const check = CHECKS.get(predicateType)
  assert.ok(check, `${predicateType} has no schema`)
  assert.ok(check(predicate), JSON.stringify(check.errors, null, 2))
}

const FIELDS = [
  'inputAttestations',
  'policy',
  'resourceUri',
  'slsaVersion',
  'timeVerified',
  'verificationResult',
  'verifiedLevels',
  'verifier',
]

/** The rules of the fields of a verification summary (SLSA 1.2, "Fields" and "SlsaResult"). */
function assertSummary(predicate: Json): void {
  const { verifier, timeVerified, resourceUri, policy, inputAttestations, verificationResult, verifiedLevels } =
    predicate
  assert.deepEqual(Object.keys(predicate).sort(), FIELDS)
  for (const uri of [verifier.id, resourceUri, policy.uri]) assert.ok(URL.canParse(uri), uri)
  for (const [component, version] of Object.entries(verifier.version))
    assert.match(`${component} ${version}`, /^\S+ \S+$/)
  assert.match(timeVerified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  for (const { digest } of [policy, ...inputAttestations]) assert.match(digest.sha256, /^[0-9a-f]{64}$/)
  assert.ok(['PASSED', 'FAILED'].includes(verificationResult))
  assert.equal(predicate.slsaVersion, '1.2')
  if (verificationResult === 'FAILED') assert.deepEqual(verifiedLevels, ['FAILED'])
  else for (const level of verifiedLevels) assert.match(level, /^(?:SLSA_[A-Z]+_LEVEL_[0-4]|SHIPLOCK_[A-Z_]+)$/)
  const tracks = verifiedLevels.map((level: string) => /^SLSA_([A-Z]+)_LEVEL/.exec(level)?.[1]).filter(Boolean)
  assert.equal(new Set(tracks).size, tracks.length, 'one level of each track')
}
