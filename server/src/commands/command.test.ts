import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '@shiplock/command-line/options'
import { defineCommand, parseArguments, parseDuration } from './command.ts'

test('days, hours and minutes are read, up to ten years', () => {
  assert.equal(parseDuration('expires-in', '90d'), 7_776_000_000)
  assert.equal(parseDuration('expires-in', '12h'), 43_200_000)
  assert.equal(parseDuration('expires-in', '30m'), 1_800_000)
  assert.equal(parseDuration('expires-in', '3650d'), 315_360_000_000)
})

test('a value that is not a duration, is zero or exceeds ten years is refused', () => {
  for (const text of ['', '0d', '-1d', '90', '1.5h', '90 d', '1w', 'd', '3651d', '999999d', '9999999m'])
    assert.throws(() => parseDuration('expires-in', text), UsageError, text)
})

const command = defineCommand({
  name: 'thing make',
  about: '',
  arguments: ['slug'],
  options: {
    name: { type: 'text', value: 'N', about: '', required: true },
    plan: { type: 'text', value: 'P', about: '' },
    scope: { type: 'list', value: 'S', about: '' },
    force: { type: 'flag', value: '', about: '' },
  },
  run: async () => {},
})

test('arguments and options are read by name, lists keep every value', () => {
  const parsed = parseArguments(command, ['acme', '--name=A b', '--scope', 'x', '--scope', 'y', '--json'])
  assert.deepEqual(parsed, {
    help: false,
    json: true,
    given: { slug: 'acme' },
    options: { name: 'A b', plan: undefined, scope: ['x', 'y'], force: false },
  })
})

test('a flag is true or false, and accepts no value', () => {
  assert.equal(parseArguments(command, ['acme', '--name=A', '--force']).options.force, true)
  assert.throws(() => parseArguments(command, ['acme', '--name=A', '--force=yes']), UsageError)
})

test('--help requires no other option', () => {
  assert.equal(parseArguments(command, ['--help']).help, true)
})

const refusals: Record<string, [args: string[], message: RegExp]> = {
  'a missing argument': [['--name', 'n'], /^<slug> is missing$/],
  'an argument too many': [['a', 'b', '--name', 'n'], /^Unexpected argument 'b'$/],
  'a missing option': [['a'], /^--name N is missing$/],
  'an empty value': [['a', '--name', ''], /^--name must have a value$/],
  'an option without value': [['a', '--name'], /--name.* argument missing$/],
  'a second value instead of the first': [
    ['a', '--name', 'n', '--plan', 'x', '--plan', 'y'],
    /^--plan can be given only once$/,
  ],
  'an unknown option': [['a', '--nam', 'n'], /^Unknown option '--nam'$/],
  'another option where a value belongs': [['a', '--name', '--plan', 'x'], /^Option '--name' argument is ambiguous$/],
}
for (const [what, [args, message]] of Object.entries(refusals)) {
  test(`refused in one line: ${what}`, () => {
    assert.throws(
      () => parseArguments(command, args),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  })
}
