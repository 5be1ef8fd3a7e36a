import { spawn } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { bundleFromJSON } from '@sigstore/bundle'
import { Verifier as SigstoreVerifier, toSignedEntity, toTrustMaterial } from '@sigstore/verify'
import type { VerifierPaths } from './install-verifiers.ts'
import type { Issued } from './issuer.ts'

/** A statement, and what a consumer expects of it. */
export type Presented = Pick<Issued, 'envelope' | 'bundle'> & {
  /** PEM */
  publicKey: string
  predicateType: string
  commit: string
  /** The bytes of an artifact; null if the statement has no artifact as a subject. */
  artifact: string | null
  /** Of a verification summary. */
  resourceUri: string | null
}

export type Verifier = {
  name: string
  /** Whether the tool reads statements of this kind. */
  reads(presented: Presented): boolean
  /** Whether the tool accepts the statement. */
  accepts(presented: Presented): Promise<boolean>
}

/** The programs that `npm run test:provenance` installed. */
export function verifierPaths(): VerifierPaths {
  const paths = process.env.SHIPLOCK_TEST_VERIFIERS
  if (!paths) throw new Error('This test needs programs of others: npm run test:provenance')
  return JSON.parse(paths)
}

const SHIPLOCK = new URL('../../../../cli/bin/shiplock.mjs', import.meta.url).pathname
const PYTHON_CHECKS = new URL('verify_statements.py', import.meta.url).pathname
const TRUSTED_ROOT = { mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1' }
const VERIFIER_ID = 'https://shiplock.dev/verifier/v1'

const all = () => true
const isSummary = ({ resourceUri }: Presented) => resourceUri !== null

/** Every tool of docs/provenance.md, called as that page says. */
export function allVerifiers({ cosign, python, verifyVsa, slsaVerifier }: VerifierPaths): Verifier[] {
  const verifiers: Verifier[] = [
    { name: 'shiplock verify', reads: all, accepts: (presented) => runOn(presented, process.execPath, shiplockArgs) },
    { name: 'cosign', reads: all, accepts: (presented) => runOn(presented, cosign, cosignArgs) },
    { name: 'cosign, bundle', reads: all, accepts: (presented) => runOn(presented, cosign, cosignBundleArgs) },
    { name: 'securesystemslib', reads: all, accepts: (presented) => runPython(presented, python, 'signature') },
    { name: 'in-toto-attestation', reads: all, accepts: (presented) => runPython(presented, python, 'form') },
    { name: '@sigstore/verify', reads: all, accepts: async (presented) => acceptedBySigstore(presented) },
    { name: 'verify-vsa', reads: isSummary, accepts: (presented) => runOn(presented, verifyVsa, summaryArgs) },
  ]
  if (slsaVerifier !== null) {
    const accepts = (presented: Presented) => runOn(presented, slsaVerifier, slsaArgs)
    verifiers.push({ name: 'slsa-verifier', reads: isSummary, accepts })
  }
  return verifiers
}

const shiplockArgs = ({ commit }: Presented) => [
  ...[SHIPLOCK, 'verify', 'envelope.json', '--key', 'key.pem', '--subject', `gitCommit:${commit}`],
]

const cosignArgs = ({ predicateType, artifact }: Presented) => [
  ...['verify-blob-attestation', '--key', 'key.pem', '--signature', 'envelope.json', '--insecure-ignore-tlog'],
  ...['--type', predicateType, ...(artifact === null ? ['--check-claims=false'] : []), 'artifact'],
]

const cosignBundleArgs = ({ predicateType, commit }: Presented) => [
  ...['verify-blob-attestation', '--new-bundle-format', '--bundle', 'bundle.json', '--key', 'key.pem'],
  ...['--trusted-root', 'trusted-root.json', '--insecure-ignore-tlog', '--type', predicateType],
  ...['--digest', commit, '--digestAlg', 'gitCommit'],
]

const summaryArgs = ({ commit, resourceUri }: Presented) => [
  ...['-key', 'key.pem', '-subject', `gitCommit:${commit}`, '-resource-uri', resourceUri ?? ''],
  ...['-verifier-id', VERIFIER_ID, '-level', 'SHIPLOCK_GATED', 'envelope.json'],
]

const slsaArgs = ({ envelope, commit, resourceUri }: Presented) => [
  ...['verify-vsa', '--attestation-path', 'envelope.json', '--subject-digest', `gitCommit:${commit}`],
  ...['--verifier-id', VERIFIER_ID, '--resource-uri', resourceUri ?? '', '--verified-level', 'SHIPLOCK_GATED'],
  ...['--public-key-path', 'key.pem', '--public-key-id', envelope.signatures[0]?.keyid ?? ''],
]

type Arguments = (presented: Presented) => string[]

/** Runs a program in a directory with the files of a statement. Exit code 0 means acceptance. */
async function runOn(presented: Presented, program: string, args: Arguments): Promise<boolean> {
  return inFiles(presented, async (directory) => {
    const { code } = await run(program, args(presented), directory)
    return code === 0
  })
}

async function runPython(presented: Presented, python: string, check: string): Promise<boolean> {
  return inFiles(presented, async (directory) => {
    const { code, stdout } = await run(python, [PYTHON_CHECKS, check, 'key.pem', 'envelope.json'], directory)
    if (code !== 0) throw new Error(`verify_statements.py exited with ${code}`)
    return stdout.trim() === 'accepted'
  })
}

/** Without a server: the home directory is empty, so that no tool finds anything cached. */
async function run(program: string, args: string[], cwd: string) {
  const env = { PATH: process.env.PATH ?? '', HOME: cwd }
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [stdout, code] = await Promise.all([
    text(child.stdout),
    new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve)),
  ])
  return { stdout, code }
}

async function inFiles<T>(presented: Presented, use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-verify-'))
  const write = (name: string, content: string) => writeFileSync(join(directory, name), content)
  write('envelope.json', JSON.stringify(presented.envelope))
  write('bundle.json', JSON.stringify(presented.bundle))
  write('key.pem', presented.publicKey)
  write('artifact', presented.artifact ?? '')
  write('trusted-root.json', JSON.stringify(TRUSTED_ROOT))
  try {
    return await use(directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const NO_THRESHOLDS = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 }

function acceptedBySigstore({ bundle, publicKey }: Presented): boolean {
  const key = createPublicKey(publicKey)
  const root = { ...TRUSTED_ROOT, tlogs: [], ctlogs: [], certificateAuthorities: [], timestampAuthorities: [] }
  const trusted = toTrustMaterial(root, () => ({ publicKey: key, validFor: () => true }))
  try {
    new SigstoreVerifier(trusted, NO_THRESHOLDS).verify(toSignedEntity(bundleFromJSON(bundle)))
    return true
  } catch {
    return false
  }
}
