import { type Verification, verifyDocument } from '../../src/commands/verify-document.ts'
import { readPublicKeys } from '../../src/verify/public-key.ts'
import { readNoteKey } from '../../src/verify/signed-note.ts'
import type { TestLog } from './log.ts'
import type { TestKey } from './statements.ts'

type Given = { key: TestKey; log?: TestLog; checkpoint?: string; subjects?: string[] }

/** Verifies a document, which is JSON or its text. */
export function verifyWith(
  { key, log, checkpoint, subjects = [] }: Given,
  document: object | string | Buffer,
): Verification {
  const bytes = Buffer.isBuffer(document)
    ? document
    : Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  return verifyDocument(bytes, {
    keys: readPublicKeys(key.pem, 'key.pem'),
    logKey: log === undefined ? null : readNoteKey(log.verifierKey),
    checkpoint: checkpoint ?? null,
    subjects,
  })
}

/** The checks that failed, as `name: detail`. */
export function failuresOf({ checks }: Verification): string[] {
  return checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
}
