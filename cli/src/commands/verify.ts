import { parseArgs } from 'node:util'
import { Refused } from '../verify/checks.ts'
import { DOCUMENT_BYTES_MAX } from '../verify/document.ts'
import { type PublicKey, readPublicKeys } from '../verify/public-key.ts'
import { isNoteKey, type NoteKey, readNoteKey } from '../verify/signed-note.ts'
import { type Command, UsageError } from './command.ts'
import { readGivenFile, readUpTo } from './given-file.ts'
import { printableJson, reportOf } from './verification-report.ts'
import { type Trusted, verifyDocument } from './verify-document.ts'

const HELP = `usage: shiplock verify FILE --key FILE [--key FILE ...] [options]

Verifies a statement of a Shiplock server. Makes no requests. Exits with 0 if the statement is
verified, 1 if it is refused, and 2 if the arguments are invalid.

FILE is the statement: a DSSE envelope, a response of the API, or a Sigstore bundle. "-" is the
standard input.

  --key FILE         a file with one or more public keys in the PEM form; may be repeated
  --subject DIGEST   what the statement must be about, as gitCommit:HEX or sha256:HEX; may be repeated
  --log-key KEY      the key of the transparency log (GET /log/key), or a file with it
  --checkpoint FILE  an older checkpoint of the log that you kept: the log must only have grown
  --json             print one JSON document: {verified, checks, warnings, statement}`

/** The width of a terminal that does not tell its own. */
const COLUMNS = 80

export const verifyCommand: Command = {
  name: 'verify',
  summary: 'Verify a statement of a Shiplock server',
  help: HELP,
  async run(args) {
    const { file, json, ...trusted } = await readArguments(args)
    const verification = verifyDocument(await readUpTo(file, DOCUMENT_BYTES_MAX), trusted)
    process.stdout.write(
      json
        ? printableJson(verification)
        : reportOf(verification, process.stdout.isTTY ? process.stdout.columns || COLUMNS : null),
    )
    return verification.verified ? 0 : 1
  },
}

const OPTIONS = {
  key: { type: 'string', multiple: true },
  subject: { type: 'string', multiple: true },
  'log-key': { type: 'string', multiple: true },
  checkpoint: { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const

async function readArguments(args: string[]): Promise<Trusted & { file: string; json: boolean }> {
  const { values, positionals } = parse(args)
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw new UsageError('Give one FILE')
  const logKey = once('log-key', values['log-key'])
  const checkpoint = once('checkpoint', values.checkpoint)
  if (values.key === undefined) throw new UsageError('Give the public key with --key')
  if (checkpoint !== null && logKey === null) throw new UsageError('--checkpoint needs --log-key')
  return {
    file,
    json: values.json ?? false,
    keys: (await Promise.all(values.key.map(readKeyFile))).flat(),
    subjects: (values.subject ?? []).map(readSubject),
    logKey: logKey === null ? null : await readLogKey(logKey),
    checkpoint: checkpoint === null ? null : await readGivenFile(checkpoint),
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, strict: true, allowPositionals: true })
  } catch (error) {
    const [firstSentence = ''] = (error as Error).message.split(/\n|\. /)
    throw new UsageError(firstSentence.replace(/\.$/, ''))
  }
}

function once(name: string, values: string[] = []): string | null {
  if (values.length > 1) throw new UsageError(`--${name} can be given only once`)
  return values[0] ?? null
}

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
function usable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof Refused ? new UsageError(error.message) : error
  }
}
