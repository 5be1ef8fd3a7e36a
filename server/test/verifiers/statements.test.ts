import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Issued, issuerUnderTest, openPayload } from '../support/verifiers/issuer.ts'
import { changeEnvelopes, TAMPERINGS, type Tampering } from '../support/verifiers/tampering.ts'
import { allVerifiers, type Presented, type Verifier, verifierPaths } from '../support/verifiers/verifiers.ts'

const issuer = issuerUnderTest()
const verifiers = allVerifiers(verifierPaths())

const { change, lineage, artifact, summary } = issuer.statements
const STATEMENTS: [kind: string, presented: Presented][] = [
  ['a change record', present(change)],
  ['a promotion path of a commit', present(lineage)],
  ['a promotion path with an artifact', { ...present(artifact), artifact: issuer.artifact.bytes }],
  ['a verification summary', { ...present(summary), resourceUri: openPayload(summary).predicate.resourceUri }],
]

function present({ envelope, bundle }: Issued): Presented {
  const { predicateType } = openPayload({ envelope })
  const { publicKey, commit } = issuer
  return { envelope, bundle, predicateType, publicKey, commit, artifact: null, resourceUri: null }
}

/**
 * The kinds of tampering that a tool does not look at (docs/provenance.md, "What each tool
 * checks").
 */
const OVERLOOKED: Record<string, Tampering[] | undefined> = {
  securesystemslib: ['subject digest'],
  '@sigstore/verify': ['subject digest'],
  'in-toto-attestation': ['payload', 'signature', 'key', 'payload type', 'subject digest'],
}

/** In the form without a bundle, cosign compares only artifacts. */
function overlooks({ name }: Verifier, { artifact }: Presented, tampering: Tampering): boolean {
  if (name === 'cosign') return tampering === 'subject digest' && artifact === null
  return OVERLOOKED[name]?.includes(tampering) ?? false
}

for (const [kind, presented] of STATEMENTS) {
  for (const verifier of verifiers.filter(({ reads }) => reads(presented))) {
    test(`${verifier.name} accepts ${kind}`, async () => {
      assert.equal(await verifier.accepts(presented), true)
    })
    for (const tampering of Object.keys(TAMPERINGS) as Tampering[]) {
      const isOverlooked = overlooks(verifier, presented, tampering)
      test(`${verifier.name} ${isOverlooked ? 'does not look at' : 'refuses'} another ${tampering}: ${kind}`, async () => {
        assert.equal(await verifier.accepts(TAMPERINGS[tampering](presented)), isOverlooked)
      })
    }
  }
}

const CHANGED_BYTES = 4

for (const [kind, presented] of STATEMENTS) {
  test(`a changed byte anywhere is refused by shiplock verify and two other tools: ${kind}`, async () => {
    for (const changed of changedBytes(presented)) {
      const refused = await namesOfRefusing(changed)
      assert.ok(refused.includes('shiplock verify') && refused.length >= 3, `refused only by ${refused}`)
    }
  })
}

async function namesOfRefusing(presented: Presented): Promise<string[]> {
  const readers = verifiers.filter(({ reads }) => reads(presented))
  const accepted = await Promise.all(readers.map(({ accepts }) => accepts(presented)))
  return readers.flatMap(({ name }, index) => (accepted[index] ? [] : [name]))
}

/** One byte is changed in the payload, in the signature, or in the payload type. */
function changedBytes(presented: Presented): Presented[] {
  return Array.from({ length: CHANGED_BYTES }, (_, index) => index / CHANGED_BYTES).flatMap((part) => [
    changeEnvelopes(presented, (envelope) => ({ ...envelope, payload: changeBase64(envelope.payload, part) })),
    changeEnvelopes(presented, (envelope) => ({
      ...envelope,
      signatures: envelope.signatures.map((signature) => ({ ...signature, sig: changeBase64(signature.sig, part) })),
    })),
    changeEnvelopes(presented, (envelope) => ({
      ...envelope,
      payloadType: changeByte(Buffer.from(envelope.payloadType), part).toString(),
    })),
  ])
}

/** Changes the byte at a part of the length, from 0 to 1. */
function changeByte(bytes: Buffer, part: number): Buffer {
  const at = Math.floor(part * bytes.length)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  return bytes
}

function changeBase64(text: string, part: number): string {
  return changeByte(Buffer.from(text, 'base64'), part).toString('base64')
}
