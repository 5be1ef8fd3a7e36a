import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { isTooGeneral } from './cwe.ts'
import { loadRuleMap, loadRuleMapFile } from './load-rule-map.ts'
import type { RuleGroup } from './rule-map.schema.ts'
import { KNOWN_TOOLS, listRuleNames } from './rule-name.ts'

const FILES = globSync('rule-map/*.json', { cwd: import.meta.dirname }).map((file) => join(import.meta.dirname, file))
const files = await Promise.all(FILES.map(loadRuleMapFile))
const weaknesses = files.flatMap((file) => file.weaknesses ?? [])
const controls = files.flatMap((file) => file.controls ?? [])
const groups = [...weaknesses, ...controls]

function rulesOf({ rules }: RuleGroup): { tool: string; rule: string }[] {
  return Object.entries(rules).flatMap(([tool, ids]) => ids.map((rule) => ({ tool, rule })))
}

function ruleCount(groups: RuleGroup[]): number {
  return new Set(groups.flatMap(rulesOf).map(({ tool, rule }) => `${tool} ${rule}`)).size
}

test('the built-in map covers the rules of many tools', () => {
  assert.ok(ruleCount(weaknesses) >= 1500, `${ruleCount(weaknesses)} rules for code`)
  assert.ok(ruleCount(controls) >= 2000, `${ruleCount(controls)} rules for infrastructure as code`)
  assert.ok(controls.length >= 500, `${controls.length} controls`)
  assert.ok(new Set(groups.flatMap(({ rules }) => Object.keys(rules))).size >= 30)
})

test('no two built-in groups have the same id', () => {
  assert.equal(new Set(groups.map(({ id }) => id)).size, groups.length)
})

test('each built-in group has rules of at least two known tools, each rule once, in its usual spelling', () => {
  const mistakes = groups.flatMap((group) => {
    const rules = rulesOf(group)
    const keys = rules.map(({ tool, rule }) => `${tool} ${rule}`.toLowerCase())
    return [
      ...(Object.keys(group.rules).length < 2 ? [`${group.id} has rules of one tool`] : []),
      ...keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${group.id} has ${key} twice`),
      ...rules
        .filter(({ tool, rule }) => !KNOWN_TOOLS.has(tool) || listRuleNames(tool, rule, null)[0]?.rule !== rule)
        .map(({ tool, rule }) => `${group.id} has ${tool} ${rule} in an unusual spelling`),
    ]
  })
  assert.deepEqual(mistakes, [])
})

test('each built-in group names its sources as addresses', () => {
  const mistakes = groups.flatMap(({ id, sources }) => (sources.every((url) => URL.canParse(url)) ? [] : [id]))
  assert.deepEqual(mistakes, [])
})

test('each built-in group for code has a CWE', () => {
  assert.deepEqual(
    weaknesses.filter(({ cwes }) => cwes.length === 0).map(({ id }) => id),
    [],
  )
  assert.ok(weaknesses.filter(({ cwes }) => cwes.some((cwe) => !isTooGeneral(cwe))).length > 400)
})

test('a rule of Ruff is in the groups of the rule of Bandit with the same number', async () => {
  const map = await loadRuleMap(null)
  const numbers = new Set(
    weaknesses.flatMap(({ rules }) => rules.ruff ?? []).flatMap((rule) => /^S(\d+)$/.exec(rule)?.[1] ?? []),
  )
  assert.ok(numbers.size > 60)
  for (const number of numbers) {
    const [ruff, bandit] = [map.weaknessesOfRule('ruff', `S${number}`), map.weaknessesOfRule('Bandit', `B${number}`)]
    assert.deepEqual(ruff, bandit, number)
  }
})

test('the other names of a rule are names of no other rule', () => {
  const others = files.flatMap(({ spellings = {} }) =>
    Object.entries(spellings).flatMap(([tool, rules]) =>
      Object.values(rules).flatMap((names) => names.map((name) => `${tool} ${name}`.toLowerCase())),
    ),
  )
  assert.deepEqual(
    others.filter((name, index) => others.indexOf(name) !== index),
    [],
  )
})

let directory: string

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'shiplock-rule-map-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function ruleMapFile(content: unknown): Promise<string> {
  const file = join(directory, 'rules.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const OWN = {
  id: 'company-query',
  title: 'A query is built from strings',
  cwes: ['CWE-89'],
  rules: { semgrep: ['company.unsafe-query'], bandit: ['B608'] },
  sources: ['https://wiki.company.example/scanners'],
}

test('a file adds its groups to the built-in map', async () => {
  const map = await loadRuleMap(await ruleMapFile({ weaknesses: [OWN] }))
  assert.deepEqual(map.weaknessesOfRule('Semgrep OSS', 'company.unsafe-query'), ['company-query'])
  assert.ok(map.weaknessesOfRule('Bandit', 'B608').includes('company-query'))
  assert.ok(map.weaknessesOfRule('Bandit', 'B608').length > 1)
})

test('a file replaces a built-in group with the same id', async () => {
  const map = await loadRuleMap(await ruleMapFile({ weaknesses: [{ ...OWN, id: 'python-sql-string' }] }))
  assert.deepEqual(map.weaknessesOfRule('ruff', 'S608'), [])
  assert.deepEqual(map.weaknessesOfRule('Bandit', 'B608'), ['python-sql-string'])
})

test('the example of the operations guide is valid', async () => {
  const guide = await readFile(join(import.meta.dirname, '../../../../docs/operations.md'), 'utf8')
  const example = /A rule map is a JSON object.*?```json\n(.*?)```/s.exec(guide)?.[1]
  const map = await loadRuleMap(await ruleMapFile(example))
  assert.deepEqual(map.weaknessesOfRule('semgrep', 'company.unsafe-query'), ['company-unsafe-query'])
})

const MISTAKES: [title: string, content: unknown, message: RegExp][] = [
  ['no JSON', '{', /rules\.json/],
  ['a list', [], /rules\.json: \//],
  ['an unknown member', { weakness: [] }, /rules\.json: \/weakness is unknown/],
  [
    'an unknown member of a group',
    { weaknesses: [{ ...OWN, cwe: 'x' }] },
    /"company-query": \/weaknesses\/0\/cwe is unknown/,
  ],
  ['an invalid CWE', { weaknesses: [OWN, { ...OWN, id: 'b', cwes: ['89'] }] }, /group "b": \/weaknesses\/1\/cwes\/0/],
  ['a tool without rules', { controls: [{ ...OWN, rules: { bandit: [] } }] }, /group "company-query": \/controls\/0/],
  [
    'a group without source',
    { weaknesses: [{ ...OWN, sources: [] }] },
    /group "company-query": \/weaknesses\/0\/sources/,
  ],
  ['a group without id', { weaknesses: [{ ...OWN, id: undefined }] }, /rules\.json: \/weaknesses\/0/],
  ['two groups of one id', { weaknesses: [OWN, OWN] }, /two groups have the id "company-query"/],
]

for (const [title, content, message] of MISTAKES) {
  test(`a rule map with ${title} is refused, and the message names the setting and the entry`, async () => {
    const file = await ruleMapFile(content)
    await assert.rejects(
      loadRuleMap(file),
      (error: Error) => error.message.startsWith('SHIPLOCK_RULE_MAP ') && message.test(error.message),
    )
  })
}

test('the message names a rule map that does not exist', async () => {
  await assert.rejects(loadRuleMap(join(directory, 'none.json')), /SHIPLOCK_RULE_MAP.*none\.json/)
})
