import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePolicyFile } from './policy.parser.ts'
import { PolicyFileError } from './policy-document.ts'

const HEAD = 'name: a\nmode: enforce\n'
const RULES = 'rules: [{ rule: a, expression: "true" }]\n'

function mistakesIn(text: string): string[] {
  try {
    parsePolicyFile(text)
    return []
  } catch (error) {
    assert.ok(error instanceof PolicyFileError)
    return error.message.split('\n')
  }
}

/** What a rule admits that says nothing about it. */
const DEFAULTS = { trust: 'default', max_age_ms: null, absent_evidence: 'error' } as const

test('omitted fields get their defaults', () => {
  assert.deepEqual(parsePolicyFile(`${HEAD}${RULES}`), {
    name: 'a',
    mode: 'enforce',
    bindings: null,
    engine: {
      type: 'cel',
      rules: [{ rule: 'a', name: 'a', expression: 'true', blocking: true, reason: null, ...DEFAULTS }],
    },
    scope: 'commit',
  })
})

test('every field is read', () => {
  const text = `
name: Everything
mode: monitor
scope: run
bindings:
  environments: [production, 'eu-*']
  repositories: [acme/*]
  branches: [main]
engine: cel
rules:
  - rule: tests
    name: Tests passed
    expression: |
      attestations.exists(a, a.status == "pass")
    blocking: false
    reason: They did not.
    trust: verified
    bad_news: any
    absent_evidence: pass
    evidence: commit
    tools: [semgrep, trivy]
    max_age: 7d`
  assert.deepEqual(parsePolicyFile(text), {
    name: 'Everything',
    mode: 'monitor',
    bindings: { environments: ['production', 'eu-*'], repositories: ['acme/*'], branches: ['main'] },
    scope: 'run',
    engine: {
      type: 'cel',
      rules: [
        {
          rule: 'tests',
          name: 'Tests passed',
          expression: 'attestations.exists(a, a.status == "pass")\n',
          blocking: false,
          reason: 'They did not.',
          trust: 'verified',
          max_age_ms: 604_800_000,
          absent_evidence: 'pass',
          bad_news: 'any',
          evidence: 'commit',
          tools: ['semgrep', 'trivy'],
        },
      ],
    },
  })
})

test('other engines have a decision, or a bundle and an entrypoint', () => {
  assert.deepEqual(parsePolicyFile(`${HEAD}engine: opa\ndecision: shiplock/release\nmax_age: 1d`).engine, {
    type: 'opa',
    decision: 'shiplock/release',
    ...DEFAULTS,
    max_age_ms: 86_400_000,
  })
  assert.deepEqual(parsePolicyFile(`${HEAD}engine: wasm\nbundle: b.tar.gz\nentrypoint: a/b\ntrust: any`).engine, {
    type: 'wasm',
    file: 'b.tar.gz',
    entrypoint: 'a/b',
    ...DEFAULTS,
    trust: 'any',
  })
})

const NOT_A_MAP = 'line 1, column 1: a policy file must be a map with the fields name, mode, bindings and rules'

const MISTAKES: [what: string, text: string, found: string[]][] = [
  ['an empty file', '', [NOT_A_MAP]],
  ['a list', '- a', [NOT_A_MAP]],
  [
    'missing fields',
    'bindings: { branches: [main] }\n',
    [
      'line 1, column 1: name: is required and must be text of at most 100 characters, such as tests-passed',
      'line 1, column 1: mode: is required and must be monitor or enforce',
      'line 1, column 1: rules: is required and must be a list of 1 to 50 items',
    ],
  ],
  [
    'missing fields of a rule',
    `${HEAD}rules:\n  - reason: none\n`,
    [
      'line 4, column 5: rules[0].rule: is required and must be text of at most 64 characters, such as no-critical-findings',
      'line 4, column 5: rules[0].expression: is required and must be a CEL expression of at most 4000 characters, such as findings.open.critical == 0',
    ],
  ],
  [
    'an unknown field',
    `${HEAD}${RULES}binding: {}\n`,
    ['line 4, column 1: binding: is not a field here; the fields are name, mode, bindings, scope, engine, rules'],
  ],
  [
    'an unknown field of a rule and one of the bindings',
    `${HEAD}bindings: { branch: [main], branches: [main] }\nrules:\n  - rule: a\n    expression: 'true'\n    trsut: any\n`,
    [
      'line 3, column 13: bindings.branch: is not a field here; the fields are environments, repositories, branches, workflows',
      'line 7, column 5: rules[0].trsut: is not a field here; the fields are rule, name, expression, blocking, reason, trust, bad_news, absent_evidence, evidence, tools, max_age',
    ],
  ],
  [
    'unknown fields whose names need escaping, or are numbers',
    `${HEAD}${RULES}a/b~c: 1\n2: 1\n`,
    ['a/b~c', '2'].map(
      (name, index) =>
        `line ${4 + index}, column 1: ${name}: is not a field here; the fields are name, mode, bindings, scope, engine, rules`,
    ),
  ],
  ['a key that is a list', `${HEAD}${RULES}? [x]\n: 1\n`, ['line 4, column 3: a key must be text']],
  ['an unknown engine', `${HEAD}engine: rego\n${RULES}`, ['line 3, column 9: engine: must be cel, opa or wasm']],
  [
    'fields of another engine',
    `${HEAD}engine: opa\n${RULES}`,
    [
      'line 1, column 1: decision: is required and must be text of at most 200 characters, such as shiplock/release',
      'line 4, column 1: rules: is not a field here; the fields are name, mode, bindings, scope, engine, decision, trust, bad_news, absent_evidence, evidence, tools, max_age',
    ],
  ],
  [
    'an expression that does not fit the input',
    `${HEAD}rules:\n  - rule: a\n    expression: run.brnch == "main"\n`,
    ['line 5, column 17: rules[0].expression: No such key: brnch (at "brnch == "main"", character 5)'],
  ],
  [
    'an incomplete expression',
    `${HEAD}rules:\n  - rule: a\n    expression: run.branch ==\n`,
    ['line 5, column 17: rules[0].expression: Unexpected token: EOF (at its end)'],
  ],
  [
    'values that YAML does not read as text',
    `${HEAD}rules:\n  - rule: 7\n    expression: true\n    name: null\n`,
    [
      'line 4, column 11: rules[0].rule: must be text of at most 64 characters, such as no-critical-findings; put the value in quotes',
      'line 5, column 17: rules[0].expression: must be a CEL expression of at most 4000 characters, such as findings.open.critical == 0; put the value in quotes',
      'line 6, column 11: rules[0].name: must be text of at most 200 characters, such as No critical finding is open',
    ],
  ],
  [
    'a glob with too many stars, and one that is not text',
    `${HEAD}${RULES}bindings:\n  branches:\n    - '*a*a*a*b'\n    - 3\n`,
    [
      'line 6, column 7: bindings.branches[0]: a pattern has at most 3 times * between two /',
      'line 7, column 7: bindings.branches[1]: must be a glob, such as *; put the value in quotes',
    ],
  ],
  [
    'bindings without a list',
    `${HEAD}${RULES}bindings: {}\n`,
    [
      'line 4, column 11: bindings: must have at least one of the fields environments, repositories, branches, workflows',
    ],
  ],
  [
    'bindings that are not a map',
    `${HEAD}${RULES}bindings: [main]\n`,
    ['line 4, column 11: bindings: must be a map of fields'],
  ],
  ['an empty list', `${HEAD}rules: []\n`, ['line 3, column 8: rules: must be a list of 1 to 50 items']],
  [
    'a repeated rule id, an invalid age, an invalid trust',
    `${HEAD}rules:\n  - { rule: a, expression: "true", max_age: 7 days }\n  - { rule: a, expression: "true", trust: all }\n`,
    [
      'line 4, column 45: rules[0].max_age: must be an age such as 7d, 12h or 30m, at most 3650d',
      'line 5, column 13: rules[1].rule: another rule has the same id: a',
      'line 5, column 43: rules[1].trust: must be verified, uploaded or any',
    ],
  ],
  [
    'text that is too long, blank, or cannot be stored',
    `name: ${'n'.repeat(101)}\nmode: enforce\nrules:\n  - { rule: a, name: ' ', expression: "true", reason: "a\\0", blocking: 1 }\n`,
    [
      'line 1, column 7: name: must be text of at most 100 characters, such as tests-passed',
      'line 4, column 22: rules[0].name: must be text of at most 200 characters, such as No critical finding is open',
      'line 4, column 55: rules[0].reason: must be text of at most 500 characters, such as Critical findings are open.',
      'line 4, column 72: rules[0].blocking: must be true or false',
    ],
  ],
  [
    'half a surrogate pair',
    `${HEAD}rules: [{ rule: a, expression: "true", reason: "\\uD800" }]\n`,
    ['line 3, column 48: rules[0].reason: must be text of at most 500 characters, such as Critical findings are open.'],
  ],
  ['an alias', `name: &n a\nmode: *n\n${RULES}`, ['line 2, column 7: aliases are not allowed; repeat the value']],
  ['a repeated key', `${HEAD}name: b\n${RULES}`, ['line 3, column 1: Map keys must be unique']],
  [
    'a path that leads elsewhere',
    `${HEAD}engine: opa\ndecision: ../system\n`,
    ['line 4, column 11: decision: must be text of at most 200 characters, such as shiplock/release'],
  ],
  ['an unknown mode', `name: a\nmode: strict\n${RULES}`, ['line 2, column 7: mode: must be monitor or enforce']],
]

for (const [what, text, found] of MISTAKES) {
  test(`refused with its position: ${what}`, () => assert.deepEqual(mistakesIn(text), found))
}

test('a second document and a file that is too large are refused', () => {
  assert.equal(mistakesIn(`${HEAD}${RULES}---\n${HEAD}${RULES}`).length, 1)
  assert.equal(mistakesIn(`${HEAD}${RULES}# ${'x'.repeat(64 * 1024)}`).length, 1)
})

test('deep nesting is refused, complete or not', () => {
  const nested = [
    '['.repeat(10_000),
    `a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`,
    `a: ${'{b: '.repeat(10_000)}`,
    '- '.repeat(10_000),
  ]
  for (const text of nested)
    assert.match(mistakesIn(text).join(), /^line 1, column \d+: the file is nested too deeply$/)
})

test('any text is parsed or refused with positions', () => {
  const line = fc.constantFrom(
    'name: a',
    'mode: enforce',
    'rules:',
    '  - rule: a',
    '    expression: "true"',
    ': x',
    '- ',
    '&a b',
    '? c',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(line, fc.string()), { maxLength: 12 }), (lines) => {
      for (const found of mistakesIn(lines.join('\n'))) assert.match(found, /^line \d+, column \d+: ./)
    }),
  )
})
