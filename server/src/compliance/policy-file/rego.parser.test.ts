import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PolicyFileError } from './policy-document.ts'
import { parseRego } from './rego.parser.ts'

const METADATA = `# METADATA
# title: Tests passed
# custom:
#   shiplock:
#     format: 1
#     mode: enforce
#     bindings:
#       - environment: production
#         workflow: release.yml
#       - environment: "staging*"
`
const MODULE = 'results := [{"rule": "a", "status": "pass"}]\n'
const file = (body = MODULE, declared = 'package shiplock.policy') => `${METADATA}${declared}\n\n${body}`

function mistakesIn(text: string): string[] {
  try {
    parseRego(text)
    return []
  } catch (error) {
    assert.ok(error instanceof PolicyFileError, String(error))
    return error.message.split('\n')
  }
}

test('the METADATA block gives the name, the mode and the bindings', () => {
  const all = { repositories: null, branches: null }
  assert.deepEqual(parseRego(file()), {
    name: 'Tests passed',
    mode: 'enforce',
    bindings: [
      { environments: ['production'], ...all, workflows: ['release.yml'] },
      { environments: ['staging*'], ...all },
    ],
    engine: {
      type: 'rego',
      module: `${METADATA}# shiplock:package\n\n${MODULE}`,
      dialect: 'shiplock',
      trust: 'any',
      max_age_ms: null,
      absent_evidence: 'error',
    },
    scope: 'commit',
  })
})

test('scope narrows what the policy looks at, and can be nothing else', () => {
  const scoped = (scope: string) => file().replace(/^(#\s+)mode: enforce$/m, `$1mode: enforce\n$1scope: ${scope}`)
  assert.equal(parseRego(scoped('run')).scope, 'run')
  assert.deepEqual(mistakesIn(scoped('commit')), ['line 1, column 1: scope: must be run or attempt'])
})

test('the packages of other products are read with their own settings', () => {
  for (const [name, custom] of [
    ['prodgator.policy', 'prodgator'],
    ['spindle.policy', 'spindle'],
  ]) {
    const parsed = parseRego(file(MODULE, `package ${name}`).replace('shiplock:', `${custom}:`))
    assert.ok(parsed.engine.type === 'rego' && parsed.engine.dialect === 'prodgator')
  }
})

test('without bindings, a policy covers its whole repository', () => {
  const bare = file().replace(/# {4,}bindings:[\s\S]*staging\*"\n/, '')
  assert.deepEqual(parseRego(bare).bindings, { environments: null, repositories: null, branches: null })
})

test('names in strings, comments and members of other values are not references', () => {
  const body = [
    '# http.send and data are not used here',
    'counts := object.get(input.attestations[0], ["data", "passed"], 0)',
    'text := "data.other"',
    'raw := `opa.runtime()`',
    'value := input.attestations[0].data.passed',
    'price := "$5"',
    MODULE,
  ]
  assert.deepEqual(mistakesIn(file(body.join('\n'))), [])
})

const REFUSED: [what: string, text: string, mistake: RegExp][] = [
  ['the network', file('x := http.send({"url": "http://a"})'), /^line 13, column 6: .*the network \(http\)/],
  ['the network by brackets', file('x := http["send"]({})'), /the network/],
  ['other policies', file('x := data.shiplock.repositories'), /other packages/],
  ['other policies by an import', file('import data.system as s'), /other packages/],
  ['everything', file('x := data'), /other packages/],
  ['the settings of the server', file('x := opa . runtime()'), /settings of the server/],
  ['the network in a template string', file('x := $"{http.send({})}"'), /template strings \(\$\)/],
  ['other policies in a raw template string', file('x := $`{data.system}`'), /template strings \(\$\)/],
  [
    'a second package after the text that marks the place of the first',
    `# shiplock:package\n\n${file(`package system.authz\n${MODULE}`)}`,
    /^line 15, column 1: .*another package \(package\)/,
  ],
  ['another package', file(MODULE, 'package system.authz'), /must start with package/],
  [
    'a package that only stands in a string',
    file('x := `\npackage shiplock.policy\n`', ' package system.authz'),
    /must start with package/,
  ],
  ['no METADATA', `package shiplock.policy\n${MODULE}`, /METADATA block before the package is required/],
  ['METADATA that is not YAML', file().replace('# title:', '# title: [\n#'), /not valid YAML/],
  ['another format', file().replace('format: 1', 'format: 2'), /format: must be 1/],
  ['no mode', file().replace('mode: enforce', 'mode: strict'), /mode: must be monitor or enforce/],
  ['an unknown binding', file().replace('workflow:', 'team:'), /bindings\[0\]\.team: is not a field/],
  ['a title that is too long', file().replace('Tests passed', 'x'.repeat(101)), /title: must be text of at most 100/],
  ['settings of another product', file().replace('shiplock:', 'other:'), /custom\.shiplock: is required/],
]

for (const [what, text, mistake] of REFUSED) {
  test(`refused: ${what}`, () => assert.match(mistakesIn(text).join('\n'), mistake))
}

test('any text is parsed or refused', () => {
  const line = fc.constantFrom(
    'package shiplock.policy',
    '# METADATA',
    '# title: a',
    '"',
    '`',
    'x := data',
    '# custom: {}',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 10 }), (lines) => {
      for (const mistake of mistakesIn(lines.join('\n'))) assert.match(mistake, /./)
    }),
  )
})
