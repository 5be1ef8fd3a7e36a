import { type Static, Type } from 'typebox'
import type { StatementReason } from '../../errors/provenance.ts'
import { defineErrorResponse } from '../../platform/http/openapi.ts'
import { Closed, ItemId, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { KEY_ALGORITHM } from './signing-key.ts'

export const StatementQuery = Closed({
  bundle: Type.Optional(
    Type.Boolean({
      description:
        'Whether to return also the statement as a Sigstore bundle, and its proof from the transparency log.',
    }),
  ),
  checkpoint_size: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'The tree size of an older checkpoint of the transparency log. The proof then shows that the log has only ' +
        'grown since. Requires `bundle=true`.',
    }),
  ),
})
export type StatementQuery = Static<typeof StatementQuery>

export const DeploymentPath = Closed({
  id: Type.String({ ...ItemId, description: 'The id of the deployment.' }),
})

const base64 = (description: string) => Type.String({ description })
const hashes = (description: string) => Type.Array(Type.String(), { description })

const payload = base64('The in-toto statement, in base64.')
const payloadType = Type.String({
  description: 'The media type of the payload.',
  examples: ['application/vnd.in-toto+json'],
})
const sig = base64('The DER signature (ECDSA P-256, SHA-256) of the DSSE pre-authentication encoding, in base64.')
const keyid = Type.String({
  description: 'The id of the public key: the lower-case hexadecimal SHA-256 of its DER SubjectPublicKeyInfo.',
})

const Envelope = Closed(
  {
    payloadType,
    payload,
    signatures: Type.Array(Closed({ keyid, sig }), { description: 'One signature.' }),
  },
  { description: 'The DSSE envelope.' },
)

const Bundle = Closed(
  {
    mediaType: Type.String({
      description: 'The type of the bundle.',
      examples: ['application/vnd.dev.sigstore.bundle.v0.3+json'],
    }),
    verificationMaterial: Closed(
      { publicKey: Closed({ hint: keyid }, { description: 'The public key that verifies the signature.' }) },
      { description: 'What is needed to verify the signature.' },
    ),
    dsseEnvelope: Closed(
      {
        payloadType,
        payload,
        signatures: Type.Array(Closed({ sig }), { description: 'One signature, without the id of its key.' }),
      },
      { description: 'The DSSE envelope in the form of Sigstore bundles.' },
    ),
  },
  { description: 'The statement as a Sigstore bundle. Only returned with `bundle=true`.' },
)

const LogProof = Closed(
  {
    origin: Type.String({ description: 'The name of the log, which is the first line of its checkpoints.' }),
    entry: Type.String({ description: 'The entry of the statement in the log.' }),
    leaf_index: Type.Integer({ minimum: 0, description: 'The position of the entry in the log, from 0.' }),
    tree_size: Type.Integer({ minimum: 1, description: 'The number of entries that the checkpoint covers.' }),
    inclusion_proof: hashes('The hashes that prove that the entry is in the tree (RFC 6962), in base64.'),
    consistency_proof: Nullable(
      hashes('The hashes that prove that the tree contains the tree of `checkpoint_size` entries, in base64.'),
      { description: 'The consistency proof (RFC 6962), in base64. Null without `checkpoint_size`.' },
    ),
    checkpoint: Type.String({ description: 'The signed checkpoint of the tree (C2SP tlog-checkpoint).' }),
  },
  { description: 'The proof that the statement is in the transparency log.' },
)

/** A signed statement (specification, "Provenance"). */
export const SignedStatement = Closed(
  {
    envelope: Envelope,
    statement_digest: Type.String({
      description: 'The SHA-256 of the payload, as `sha256:` and 64 hexadecimal digits.',
    }),
    bundle: Type.Optional(Bundle),
    unsigned: Type.Optional(
      Closed(
        { log: LogProof },
        { description: 'What the signature does not cover. Only returned with `bundle=true`.' },
      ),
    ),
  },
  { $id: 'SignedStatement', description: 'A signed statement.' },
)

const MEANINGS: Record<StatementReason, string> = {
  NOT_PROTECTED: 'no gate covers the environment of the deployment',
  NOT_LANDED: 'the pull request is open, or it was closed without merging',
  NO_COMMIT: 'the landed commit is not known yet, or the deployment names no commit',
  NOT_DEPLOYED: 'the deployment did not succeed',
  LINEAGE_NOT_READY:
    'the deployment or its run has not finished, or the data of the code host is still being synchronized',
  NO_CHANGE: 'no change record has the commit',
  RECORD_EXPIRED: 'the change landed before the start of the data retention of the plan',
  CHAIN_BROKEN: 'the chain of records of the repository does not verify',
}

/** The errors of a statement with their reasons, for OpenAPI. */
export function defineStatementErrors(what: string, missing: StatementReason[], conflicts: StatementReason[]) {
  const notFound = `\`not_found\`: the organization has no such ${what}`
  return {
    404: defineErrorResponse(missing.length === 0 ? `${notFound}.` : `${notFound}, or ${withReasons(missing)}`),
    409: defineErrorResponse(`\`statement_unavailable\`: ${withReasons(conflicts)}`),
  }
}

function withReasons(reasons: StatementReason[]): string {
  const list = reasons.map((reason) => `\n- \`${reason}\`: ${MEANINGS[reason]}`)
  return `\`details.reason\` states why there is no statement:\n${list.join('')}`
}

export const SigningKeys = Closed(
  {
    keys: Type.Array(
      Closed({
        keyid: Type.String({
          pattern: '^[0-9a-f]{64}$',
          description: 'The id of the key: the SHA-256 of its DER SubjectPublicKeyInfo in lowercase hexadecimal.',
        }),
        alg: Type.String({
          description: `The signature algorithm: \`${KEY_ALGORITHM}\`, which is ECDSA with the curve P-256 and SHA-256. Signatures are DER.`,
        }),
        pem: Type.String({ description: 'The public key as a PEM SubjectPublicKeyInfo.' }),
        created_at: { ...Timestamp, description: 'Since when the key signs.' },
        retired_at: Nullable(Timestamp, {
          description: 'Until when the key signed. Null for the current key. What it signed stays valid.',
        }),
      }),
      { description: 'The current key, then the retired ones, newest first. Keys are never removed.' },
    ),
  },
  { $id: 'SigningKeys' },
)
