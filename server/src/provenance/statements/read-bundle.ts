import type { DsseEnvelope } from '../../platform/crypto/dsse.ts'
import type { Services } from '../../services.ts'
import { readLogProof } from '../log/read-log-proof.ts'
import type { StoredStatement } from './statement.store.ts'

const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json'

/** The statement with its proof from the log, for tools that read Sigstore bundles. */
export async function readBundle(services: Services, statement: StoredStatement, checkpointSize?: number) {
  const sha256 = Buffer.from(statement.statement_digest.slice('sha256:'.length), 'hex')
  const log = await readLogProof(services, { kind: 'statement', sha256 }, checkpointSize)
  return { bundle: sigstoreBundle(JSON.parse(statement.envelope)), unsigned: { log } }
}

/** A Sigstore bundle v0.3. Its signatures have no key id: the hint names the key. */
function sigstoreBundle({ payloadType, payload, signatures }: DsseEnvelope) {
  return {
    mediaType: BUNDLE_TYPE,
    verificationMaterial: { publicKey: { hint: signatures[0]?.keyid ?? '' } },
    dsseEnvelope: { payloadType, payload, signatures: signatures.map(({ sig }) => ({ sig })) },
  }
}
