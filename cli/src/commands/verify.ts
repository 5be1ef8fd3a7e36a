import { defineCommand } from '@shiplock/command-line/command'
import { requireChoice, UsageError } from '@shiplock/command-line/options'
import { Refused } from '@shiplock/verify/checks'
import { DOCUMENT_BYTES_MAX } from '@shiplock/verify/document'
import { type PublicKey, readPublicKeys } from '@shiplock/verify/public-key'
import { isNoteKey, type NoteKey, readNoteKey } from '@shiplock/verify/signed-note'
import { type Trusted, verifyDocument } from '@shiplock/verify/verify-document'
import { EXIT } from '../program/exit-codes.ts'
import { readGivenFile, readUpTo } from './given-file.ts'
import { printableJson, reportOf } from './verification-report.ts'

export const verifyCommand = defineCommand({
  name: 'verify',
  summary: 'Verify a statement of a Shiplock server',
  details: [
    'Verifies a statement of a Shiplock server. Makes no requests. Exits with 0 if the statement is verified, 1 if it is refused, and 2 if the arguments are invalid.',
    'FILE is the statement: a DSSE envelope, a response of the API, or a Sigstore bundle. "-" is the standard input.',
  ],
  positionals: { value: 'FILE', count: 'one' },
  options: {
    key: { type: 'list', value: 'FILE', about: 'a file with one or more public keys in the PEM form' },
    subject: {
      type: 'list',
      value: 'DIGEST',
      about: 'what the statement must be about, as gitCommit:HEX or sha256:HEX',
    },
    'allow-class': {
      type: 'list',
      value: 'CLASS',
      about: 'accept --subject also if only this class stated it: self_reported',
    },
    'log-key': {
      type: 'text',
      value: 'KEY',
      about: 'the key of the transparency log (GET /log/key), or a file with it',
    },
    checkpoint: {
      type: 'text',
      value: 'FILE',
      about: 'an older checkpoint of the log that you kept: the log must only have grown',
    },
    json: { type: 'flag', value: '', about: 'print one JSON document: {verified, checks, warnings, statement}' },
  },
  examples: [
    'shiplock verify statement.json --key shiplock.pem',
    'shiplock verify bundle.json --key shiplock.pem --subject gitCommit:$GIT_COMMIT --log-key log.key',
  ],
  async run({ options, positionals: [file = ''] }, { output }) {
    const trusted = await readTrusted(options)
    const verification = await verifyDocument(await readUpTo(file, DOCUMENT_BYTES_MAX), trusted)
    output.write(options.json ? printableJson(verification) : reportOf(verification, output.columns))
    return verification.verified ? EXIT.ok : EXIT.failure
  },
})

type TrustOptions = {
  key: string[]
  subject: string[]
  'allow-class': string[]
  'log-key': string | undefined
  checkpoint: string | undefined
}

async function readTrusted(options: TrustOptions): Promise<Trusted> {
  const { key: keys, 'log-key': logKey, checkpoint } = options
  if (keys.length === 0) throw new UsageError('Give the public key with --key')
  if (checkpoint !== undefined && logKey === undefined) throw new UsageError('--checkpoint needs --log-key')
  return {
    keys: (await Promise.all(keys.map(readKeyFile))).flat(),
    subjects: options.subject.map(readSubject),
    classes: options['allow-class'].map((value) => requireChoice('allow-class', value, CLASSES)),
    logKey: logKey === undefined ? null : await readLogKey(logKey),
    checkpoint: checkpoint === undefined ? null : await readGivenFile(checkpoint),
  }
}

/** What code of strangers may have stated is never accepted. */
const CLASSES = ['self_reported'] as const

const SUBJECT = /^[A-Za-z0-9]+:[0-9a-f]+$/

function readSubject(value: string): string {
  if (!SUBJECT.test(value)) throw new UsageError('--subject must have the form gitCommit:HEX or sha256:HEX')
  return value
}

async function readKeyFile(path: string): Promise<PublicKey[]> {
  const text = await readGivenFile(path)
  return usable(() => readPublicKeys(text, path))
}

async function readLogKey(value: string): Promise<NoteKey> {
  const text = isNoteKey(value) ? value : await readGivenFile(value)
  return usable(() => readNoteKey(text))
}

/** A key that cannot be used is a usage error, and not a failed check of the statement. */
async function usable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof Refused ? new UsageError(error.message) : error
  }
}
