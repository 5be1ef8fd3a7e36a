import { join } from 'node:path'
import { buildGoProgram, installGoProgram } from '../install-go-program.ts'
import { installPythonPackages } from '../install-python-packages.ts'

/** Paths of the programs that verify statements, apart from the npm packages. */
export type VerifierPaths = {
  cosign: string
  /** Of the transparency log: Tessera's check of a tiled log. */
  fsck: string
  /** Of verification summaries, with the libraries of the in-toto project (verify-vsa/main.go). */
  verifyVsa: string
  /** A Python with securesystemslib and in-toto-attestation. */
  python: string
  /** Null if the registry does not give it (docs/provenance.md, "Other tools"). */
  slsaVerifier: string | null
}

const PACKAGES = ['securesystemslib[crypto]==1.6.0', 'in-toto-attestation==0.9.3']

/** Installs the verifiers once for all clones of this user. Throws if a required one is missing. */
export async function installVerifiers(): Promise<VerifierPaths> {
  return {
    cosign: await installGoProgram({
      package: 'github.com/sigstore/cosign/v2/cmd/cosign',
      version: 'v2.6.5',
      what: 'cosign',
    }),
    fsck: await installGoProgram({
      package: 'github.com/transparency-dev/tessera/cmd/fsck',
      version: 'v1.0.4',
      what: 'the log checker',
    }),
    verifyVsa: await buildGoProgram(new URL('verify-vsa', import.meta.url).pathname, 'the summary verifier'),
    python: join(await installPythonPackages('securesystemslib-1.6.0-in-toto-attestation-0.9.3', PACKAGES), 'python'),
    slsaVerifier: await installSlsaVerifier(),
  }
}

/**
 * `SHIPLOCK_TEST_SLSA_VERIFIER` is the path of one that was built from its source. The Go module
 * proxies of some networks refuse the modules of slsa-framework. verify-vsa compares the same
 * things.
 */
async function installSlsaVerifier(): Promise<string | null> {
  if (process.env.SHIPLOCK_TEST_SLSA_VERIFIER) return process.env.SHIPLOCK_TEST_SLSA_VERIFIER
  const module = { package: 'github.com/slsa-framework/slsa-verifier/v2/cli/slsa-verifier', version: 'v2.7.1' }
  try {
    return await installGoProgram({ ...module, what: 'slsa-verifier' })
  } catch (error) {
    const reason = (error as Error).message.split('\n').filter((line) => !line.includes('downloading'))
    console.error(`MISSING: slsa-verifier could not be installed, so its tests do not run. ${reason.join(' ')}`)
    return null
  }
}
