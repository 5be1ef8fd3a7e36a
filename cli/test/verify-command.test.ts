import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { TestLog } from '../../packages/verify/test/support/log.ts'
import {
  changeStatement,
  dataOf,
  makeKey,
  RECORD,
  sha256,
  signPayload,
  signStatement,
} from '../../packages/verify/test/support/statements.ts'

const BIN = new URL('../bin/shiplock.mjs', import.meta.url).pathname
const directory = mkdtempSync(join(tmpdir(), 'shiplock-cli-'))
after(() => rmSync(directory, { recursive: true }))

const key = makeKey()
const other = makeKey()
const envelope = signStatement(key, changeStatement())
const log = new TestLog()
const index = log.add('statement', sha256(Buffer.from(envelope.payload, 'base64')))

const KEY = file('key.pem', key.pem)
const STATEMENT = file('statement.json', { data: dataOf(envelope, log.proof(index)) })
const CHECKPOINT = file('checkpoint', log.checkpoint())

function file(name: string, content: string | Buffer | object): string {
  const path = join(directory, name)
  const isRaw = typeof content === 'string' || Buffer.isBuffer(content)
  writeFileSync(path, isRaw ? content : JSON.stringify(content))
  return path
}

function shiplock(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], { input, encoding: 'utf8' })
  assert.doesNotMatch(stdout + stderr, /\n\s+at /, 'a stack trace')
  return { status, stdout, stderr }
}

test('0: a verified statement, one line for each check, and what the statement says', () => {
  const args = ['verify', STATEMENT, '--key', KEY, '--log-key', log.verifierKey, '--checkpoint', CHECKPOINT]
  const { status, stdout, stderr } = shiplock(args)
  assert.equal(status, 0, stdout)
  assert.equal(stderr, '')
  assert.match(stdout, /^ok {6}form {13}a DSSE envelope/)
  assert.match(stdout, new RegExp(`ok {6}signature {8}made by the key ${key.keyid}`))
  assert.match(stdout, /\nok {6}log consistency {2}the log is the same as at the kept/)
  assert.match(stdout, new RegExp(`\n\nChange ${RECORD.id} landed on main of github.com/acme/shop`))
  assert.match(stdout, /\nVerified\.\n$/)
  assert.ok(!stdout.includes('\x1b'))
})

test('0: standard input, several keys in one file and several files, the log key in a file', () => {
  const keys = file('keys.pem', `${other.pem}${key.pem}`)
  const logKey = file('log.key', `${log.verifierKey}\n`)
  const args = ['verify', '-', '--key', file('other.pem', other.pem), '--key', keys, '--log-key', logKey, '--json']
  const { status, stdout } = shiplock(args, JSON.stringify(dataOf(envelope, log.proof(index))))
  assert.equal(status, 0, stdout)
  const { verified, checks, warnings, statement } = JSON.parse(stdout)
  assert.equal(verified, true)
  assert.deepEqual(Object.keys(checks[0]), ['name', 'ok', 'detail'])
  assert.deepEqual(warnings, [])
  assert.equal(statement.keyid, key.keyid)
  assert.equal(statement.predicate_type, 'https://shiplock.dev/change-record/v1')
  assert.deepEqual(statement.predicate.record, RECORD)
})

test('1: a refused statement says which check failed, and nothing of what the statement says', () => {
  const { status, stdout } = shiplock(['verify', STATEMENT, '--key', file('other.pem', other.pem)])
  assert.equal(status, 1)
  assert.match(stdout, /failed {2}signature {2}the signature names the key/)
  assert.match(stdout, /\nRefused: the statement is not verified\.\n$/)
  assert.doesNotMatch(stdout, /acme/)
  assert.equal(
    JSON.parse(shiplock(['verify', STATEMENT, '--key', file('other.pem', other.pem), '--json']).stdout).statement,
    null,
  )
})

const HOSTILE: [what: string, content: string | Buffer | object, message: RegExp][] = [
  ['a file of 100 MB', Buffer.alloc(100_000_000, '['), /form {2}the file is larger than/],
  ['binary', Buffer.from([0, 159, 146, 150]), /form {2}the file is not text/],
  ['an empty file', '', /form {2}the file is not JSON/],
  ['a truncated file', JSON.stringify(envelope).slice(0, -20), /form {2}the file is not JSON/],
  ['deep JSON', `{"data":${'['.repeat(100_000)}`, /form {2}the file is nested/],
  ['a duplicate key', JSON.stringify(envelope).replace('{', '{"payload":"e30=",'), /has the key "payload" twice/],
  ['a list', [], /form {2}the document must be an object/],
  ['another document', { hello: 'world' }, /form {2}the file is neither a DSSE envelope/],
  ['null', 'null', /form {2}the document must be an object/],
  ['wrong types', { payloadType: 1, payload: 'e30=', signatures: [] }, /signatures must be a list of one signature/],
  ['two signatures', { ...envelope, signatures: [0, 1].map(() => envelope.signatures[0]) }, /a list of one signature/],
  ['loose base64', { ...envelope, payload: `${envelope.payload}\n` }, /payload must be base64/],
  ['URL base64', { ...envelope, payload: '_-8=' }, /payload must be base64/],
  ['a signature that is not DER', withSig(Buffer.alloc(64, 1)), /signature {2}the signature does not fit/],
  ['no signature bytes', withSig(Buffer.alloc(0)), /signature {2}the signature does not fit/],
  ['an unknown field', { ...envelope, cert: 'x' }, /cert is not a known field/],
  ['another payload type', signPayload(key, '{}', 'application/json'), /failed {2}payload type/],
  ['a payload that is not JSON', signPayload(key, 'hello'), /failed {2}statement {5}the payload is not JSON/],
  ['a payload without a form', signPayload(key, '[]'), /failed {2}statement {5}the document must be an object/],
  ['a payload with a duplicate key', signPayload(key, '{"_type":1,"_type":2}'), /the key "_type" twice/],
]

function withSig(sig: Buffer) {
  return { ...envelope, signatures: [{ keyid: key.keyid, sig: sig.toString('base64') }] }
}

for (const [what, content, message] of HOSTILE) {
  test(`1: ${what}`, () => {
    const { status, stdout, stderr } = shiplock(['verify', file('hostile', content), '--key', KEY])
    assert.equal(status, 1, stderr)
    assert.match(stdout, message)
  })
}

test('control characters of a statement do not reach the terminal', () => {
  const statement = changeStatement({ ...RECORD, branch: 'main\x1b[2J\u009b\u202e' })
  const path = file('control.json', signStatement(key, statement))
  for (const flags of [[], ['--json']]) {
    const { status, stdout } = shiplock(['verify', path, '--key', KEY, ...flags])
    assert.equal(status, 0, stdout)
    assert.match(stdout, /main\\u001b\[2J\\u009b\\u202e/)
    assert.ok(!['\x1b', '\u009b', '\u202e'].some((char) => stdout.includes(char)))
  }
})

const WRONG: [what: string, args: string[], message: RegExp][] = [
  ['an option before the command', ['--json', 'verify'], /--json must follow a command/],
  ['an unknown command', ['vrify'], /Unknown command "vrify"/],
  ['no file', ['verify', '--key', KEY], /Give one FILE/],
  ['two files', ['verify', 'a', 'b', '--key', KEY], /Give one FILE/],
  ['no key', ['verify', STATEMENT], /Give the public key with --key/],
  ['an unknown option', ['verify', STATEMENT, '--kye', KEY], /Unknown option '--kye'/],
  ['a file that does not exist', ['verify', join(directory, 'none'), '--key', KEY], /none cannot be read \(ENOENT\)/],
  ['a directory', ['verify', directory, '--key', KEY], /cannot be read \(EISDIR\)/],
  ['a key that does not exist', ['verify', STATEMENT, '--key', join(directory, 'none')], /cannot be read/],
  ['a file without a key', ['verify', STATEMENT, '--key', STATEMENT], /contains no key in the PEM form/],
  [
    'a private key',
    ['verify', STATEMENT, '--key', privateKeyFile()],
    /must contain public keys only. It contains "PRIVATE KEY"/,
  ],
  ['a damaged key', ['verify', STATEMENT, '--key', file('bad.pem', key.pem.replace('M', '!'))], /cannot be read/],
  ['a P-384 key', ['verify', STATEMENT, '--key', file('p384.pem', makeKey('P-384').pem)], /on the curve P-256/],
  [
    'a checkpoint without a log key',
    ['verify', STATEMENT, '--key', KEY, '--checkpoint', CHECKPOINT],
    /needs --log-key/,
  ],
  [
    'a damaged log key',
    ['verify', STATEMENT, '--key', KEY, '--log-key', damaged(log.verifierKey)],
    /log key is damaged/,
  ],
  [
    'a subject without its algorithm',
    ['verify', STATEMENT, '--key', KEY, '--subject', 'abc'],
    /--subject must have the form/,
  ],
  ['two log keys', ['verify', STATEMENT, '--key', KEY, '--log-key', 'a', '--log-key', 'b'], /only once/],
]

function privateKeyFile(): string {
  return file('private.pem', key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

function damaged(verifierKey: string): string {
  return `x${verifierKey}`
}

for (const [what, args, message] of WRONG) {
  test(`2: ${what}`, () => {
    const { status, stdout, stderr } = shiplock(args)
    assert.equal(status, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.equal(stderr.trim().split('\n').length, 1)
  })
}

test('2: without a command, the commands are listed', () => {
  const { status, stdout, stderr } = shiplock([])
  assert.equal(status, 2)
  assert.equal(stdout, '')
  assert.equal(stderr, shiplock(['--help']).stdout)
})

test('1: standard output that cannot be written, in one line', { skip: !existsSync('/dev/full') }, () => {
  const command = `"${process.execPath}" "${BIN}" completion bash > /dev/full`
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  assert.equal(stderr, 'shiplock: Standard output cannot be written (ENOSPC)\n')
  assert.equal(status, 1)
})

test('0: help is --help', () => {
  assert.equal(shiplock(['help']).stdout, shiplock(['--help']).stdout)
  assert.equal(shiplock(['help', 'run']).stdout, shiplock(['run', '--help']).stdout)
  assert.equal(shiplock(['help', 'run', 'exec']).stdout, shiplock(['run', 'exec', '--help']).stdout)
})

test('0: --help describes the program and the command', () => {
  assert.match(shiplock(['--help']).stdout, /\n {2}verify +Verify a statement of a Shiplock server\n/)
  assert.match(shiplock(['verify', '--help']).stdout, /--checkpoint FILE/)
})
