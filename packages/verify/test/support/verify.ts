import { readPublicKeys } from '../../src/public-key.ts'
import { readNoteKey } from '../../src/signed-note.ts'
import { type Verification, verifyDocument } from '../../src/verify-document.ts'
import type { TestLog } from './log.ts'
import type { TestKey } from './statements.ts'

type Given = { key: TestKey; log?: TestLog; checkpoint?: string; subjects?: string[]; classes?: string[] }

/** Verifies a document, which is JSON or its text. */
export async function verifyWith(
  { key, log, checkpoint, subjects = [], classes = [] }: Given,
  document: object | string | Buffer,
): Promise<Verification> {
  const bytes = Buffer.isBuffer(document)
    ? document
    : Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  return verifyDocument(bytes, {
    keys: await readPublicKeys(key.pem, 'key.pem'),
    logKey: log === undefined ? null : await readNoteKey(log.verifierKey),
    checkpoint: checkpoint ?? null,
    subjects,
    classes,
  })
}

/** The checks that failed, as `name: detail`. */
export function failuresOf({ checks }: Verification): string[] {
  return checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
}
