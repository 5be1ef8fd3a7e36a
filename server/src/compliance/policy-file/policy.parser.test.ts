import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parsePolicyFile } from './policy.parser.ts'
import { PolicyFileError } from './policy-mistake.ts'

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

test('a file is read with its defaults', () => {
  assert.deepEqual(parsePolicyFile(`${HEAD}${RULES}`), {
    name: 'a',
    mode: 'enforce',
    bindings: null,
    engine: {
      type: 'cel',
      rules: [
        { rule: 'a', name: 'a', expression: 'true', blocking: true, reason: null, trust: null, max_age_ms: null },
      ],
    },
  })
})

test('every field is read', () => {
  const text = `
name: Everything
mode: monitor
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
    trust: any
    max_age: 7d`
  assert.deepEqual(parsePolicyFile(text), {
    name: 'Everything',
    mode: 'monitor',
    bindings: { environments: ['production', 'eu-*'], repositories: ['acme/*'], branches: ['main'] },
    engine: {
      type: 'cel',
      rules: [
        {
          ...{ rule: 'tests', name: 'Tests passed', expression: 'attestations.exists(a, a.status == "pass")\n' },
          ...{ blocking: false, reason: 'They did not.', trust: 'any', max_age_ms: 604_800_000 },
        },
      ],
    },
  })
})

test('the other engines have a decision, or a bundle and its entrypoint', () => {
  assert.deepEqual(parsePolicyFile(`${HEAD}engine: opa\ndecision: shiplock/release\nmax_age: 1d`).engine, {
    ...{ type: 'opa', decision: 'shiplock/release' },
    ...{ trust: null, max_age_ms: 86_400_000 },
  })
  assert.deepEqual(parsePolicyFile(`${HEAD}engine: wasm\nbundle: b.tar.gz\nentrypoint: a/b\ntrust: any`).engine, {
    ...{ type: 'wasm', file: 'b.tar.gz', entrypoint: 'a/b' },
    ...{ trust: 'any', max_age_ms: null },
  })
})

const MISTAKES: [what: string, text: string, found: string[]][] = [
  ['nothing', '', ['line 1: a policy file has fields: name, mode, bindings, rules']],
  ['a list', '- a', ['line 1: a policy file has fields: name, mode, bindings, rules']],
  [
    'fields that are missing',
    'bindings: { branches: [main] }\n',
    [
      'line 1: name: is missing; write a name like tests-passed',
      'line 1: mode: is missing; write monitor or enforce',
      'line 1: rules: is missing; a policy has at least one rule',
    ],
  ],
  [
    'a field that there is not',
    `${HEAD}${RULES}binding: {}\n`,
    ['line 4: binding: is no field here; there are name, mode, bindings, engine, rules'],
  ],
  [
    'an expression that does not fit the input',
    `${HEAD}rules:\n  - rule: a\n    expression: run.brnch == "main"\n`,
    ['line 5: rules[0].expression: No such key: brnch (at "brnch == "main"", character 5)'],
  ],
  [
    'an expression that ends too early',
    `${HEAD}rules:\n  - rule: a\n    expression: run.branch ==\n`,
    ['line 5: rules[0].expression: Unexpected token: EOF (at its end)'],
  ],
  [
    'an expression that YAML takes for something else',
    `${HEAD}rules:\n  - rule: a\n    expression: true\n`,
    ['line 5: rules[0].expression: must be an expression like findings.open.critical == 0 of at most 4000 characters'],
  ],
  [
    'a glob that could run away, and one that is no text',
    `${HEAD}${RULES}bindings:\n  branches:\n    - '*a*a*a*b'\n    - 3\n`,
    [
      'line 6: bindings.branches[0]: a pattern has at most 3 times * between two /',
      'line 7: bindings.branches[1]: must be a text; put it in quotes',
    ],
  ],
  [
    'bindings that bind to nothing',
    `${HEAD}${RULES}bindings: {}\n`,
    ["line 4: bindings: must name environments, repositories or branches; '*' is every one"],
  ],
  [
    'two rules of one id, an age that is none, a trust that is none',
    `${HEAD}rules:\n  - { rule: a, expression: "true", max_age: 7 days }\n  - { rule: a, expression: "true", trust: all }\n`,
    [
      'line 4: rules[0].max_age: must be a time like 7d, 12h or 30m, at most 3650d',
      'line 5: rules[1].trust: must be any',
      'line 5: rules[1].rule: is the id of another rule, too: a',
    ],
  ],
  ['an alias', `name: &n a\nmode: *n\n${RULES}`, ['line 2: a policy file has no aliases; repeat the value']],
  ['a key twice', `${HEAD}name: b\n${RULES}`, ['line 3: Map keys must be unique']],
  [
    'a path that leads elsewhere',
    `${HEAD}engine: opa\ndecision: ../system\n`,
    ['line 4: decision: must be a path like shiplock/release of at most 200 characters'],
  ],
  ['a mode that there is not', `name: a\nmode: strict\n${RULES}`, ['line 2: mode: must be monitor or enforce']],
]

for (const [what, text, found] of MISTAKES) {
  test(`refused with its line: ${what}`, () => assert.deepEqual(mistakesIn(text), found))
}

test('a second document, a file that is too large and deep nesting are refused', () => {
  assert.equal(mistakesIn(`${HEAD}${RULES}---\n${HEAD}${RULES}`).length, 1)
  assert.equal(mistakesIn(`${HEAD}${RULES}# ${'x'.repeat(64 * 1024)}`).length, 1)
  assert.ok(mistakesIn('['.repeat(30_000)).length > 0)
})

test('whatever a file holds, it is read or refused with its lines', () => {
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
      for (const found of mistakesIn(lines.join('\n'))) assert.match(found, /^line \d+: ./)
    }),
  )
})
