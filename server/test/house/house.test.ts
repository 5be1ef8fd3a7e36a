import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Source } from '../support/source-imports.ts'
import { HOUSE_PLAN } from './house-plan.ts'
import { type House, listFunctions, measureHouse } from './measure-house.ts'
import { readServerSources } from './server-sources.ts'
import { STORE_WORDS, WORDS } from './vocabulary.ts'

let sources: Source[]
let house: House

before(() => {
  sources = readServerSources()
  house = measureHouse(sources)
})

test('every figure of the house has a bound', () => {
  assert.deepEqual(Object.keys(HOUSE_PLAN).sort(), Object.keys(house).sort())
})

for (const [name, { max }] of Object.entries(HOUSE_PLAN))
  test(`the house has at most ${max}: ${name}`, () => {
    assert.ok((house[name] ?? 0) <= max, `${house[name]}; see CONTRIBUTING.md, "The house"`)
  })

test('exported functions begin with a word of the vocabulary', () => {
  const broken = sources.flatMap(listFunctions).flatMap(({ name, path, isExported }) => {
    const word = /^[a-z]+/.exec(name)?.[0]
    const words = path.endsWith('.store.ts') ? STORE_WORDS : WORDS
    return isExported && word !== undefined && !words.includes(word) ? [`${path}: ${name}`] : []
  })
  assert.deepEqual(broken, [])
})

test('the vocabulary is small, and each of its words is used', () => {
  assert.ok(WORDS.length <= 120 && STORE_WORDS.length <= 14)
  const used = new Set(sources.flatMap(listFunctions).map(({ name }) => /^[a-z]+/.exec(name)?.[0]))
  assert.deepEqual(
    WORDS.filter((word) => !used.has(word)),
    [],
  )
})

test('a function is measured by its lines, and a word by its first capital', () => {
  const text = 'export async function findRun() {\n  return 1\n}\n\nfunction isOpen() {\n}\n'
  const found = listFunctions({ path: 'a.ts', text, lines: text.split('\n') })
  assert.deepEqual(found, [
    { name: 'findRun', path: 'a.ts', isExported: true, lines: 3 },
    { name: 'isOpen', path: 'a.ts', isExported: false, lines: 2 },
  ])
})
