import { type Checks, Refused } from '../checks.ts'
import type { Fields } from '../fields.ts'
import { commitSubject, type Statement } from '../statement.ts'

const VERIFIER = 'https://shiplock.dev/verifier/v1'
const SHA256_DIGEST = /^[0-9a-f]{64}$/
const RFC_3339 = { pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/, what: 'a time (RFC 3339)' }
const SLSA_VERSION = { pattern: /^\d+\.\d+$/, what: 'a version of SLSA' }

/** A SLSA verification summary (SLSA 1.2, "Verification Summary Attestation"). */
export const verificationSummary = {
  what: 'a SLSA verification summary',
  async check(checks: Checks, statement: Statement): Promise<void> {
    await checks.run('subject', () => checkResource(statement), String)
    await checks.run('verdict', () => checkVerdict(statement.predicate), String)
    await checks.run('inputs', () => checkInputs(statement.predicate), String)
  },
  describe: ({ predicate }: Statement): string[] => describeSummary(predicate),
}

/** `resourceUri` is the repository of the subject, with the environment as a parameter. */
function checkResource(statement: Statement): string {
  const uri = statement.predicate.string('resourceUri')
  const subject = commitSubject(statement)
  if (uri !== subject.name && !uri.startsWith(`${subject.name}?`))
    throw new Refused(`the subject is ${subject.name}, and the summary is about ${uri}`)
  return `commit ${subject.sha} of ${uri}`
}

/** A failed verification has no other level. */
function checkVerdict(predicate: Fields): string {
  const result = predicate.string('verificationResult', { pattern: /^(?:PASSED|FAILED)$/, what: 'PASSED or FAILED' })
  const levels = predicate.strings('verifiedLevels')
  const isFailed = levels.length === 1 && levels[0] === 'FAILED'
  if (result === 'FAILED' && !isFailed) throw new Refused('a failed verification must have the level "FAILED" only')
  if (result === 'PASSED' && levels.includes('FAILED'))
    throw new Refused('a passed verification has the level "FAILED"')
  return `${result}, with the levels ${levels.join(', ') || '(none)'}`
}

function checkInputs(predicate: Fields): string {
  const digests = [predicate.object('policy'), ...predicate.objects('inputAttestations')].map((item) =>
    item.object('digest'),
  )
  for (const digest of digests) digest.string('sha256', { pattern: SHA256_DIGEST, what: 'a SHA-256' })
  return `the digests of the policies and of ${digests.length - 1} statements`
}

function describeSummary(predicate: Fields): string[] {
  const verifier = predicate.object('verifier')
  if (verifier.string('id') !== VERIFIER) throw verifier.refusal('id', VERIFIER)
  const [resource, query] = predicate.string('resourceUri').split('?', 2)
  const environment = new URLSearchParams(query).get('environment')
  const where = environment === null ? '' : `, environment ${environment}`
  const inputs = predicate
    .objects('inputAttestations')
    .map((input) => `sha256:${input.object('digest').string('sha256')}`)
  return [
    `Verdict ${predicate.string('verificationResult')} for ${resource}${where}.`,
    `Levels: ${predicate.strings('verifiedLevels').join(', ') || 'none'} (SLSA ${predicate.string('slsaVersion', SLSA_VERSION)}).`,
    `Verified at ${predicate.string('timeVerified', RFC_3339)} by ${verifier.string('id')}.`,
    `From the statements: ${inputs.join(', ') || 'none'}.`,
  ]
}
