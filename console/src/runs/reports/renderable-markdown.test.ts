import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderableStart } from './renderable-markdown.ts'

test('a short text is rendered as a whole', () => {
  const text = `# Title\n\n${'-'.repeat(80)}\n\n| a |\n|${'-'.repeat(80)}|\n\n> > quoted\n\n- - 1. item`
  assert.equal(renderableStart(text), text)
})

test('of a long text whole lines are rendered, or a part of a line that is too long', () => {
  const start = renderableStart(`${'x'.repeat(99)}\n`.repeat(10_000))
  assert.ok(start.length <= 32 * 1024 && start.length > 30_000 && start.endsWith('x\n'))
  assert.equal(renderableStart('x'.repeat(100_000)).length, 32 * 1024)
})

for (const marker of ['>', '> ', '- ', '* ', '1. ', ' >', '12) ']) {
  test(`a line of “${marker}” without end is not rendered`, () => {
    assert.equal(renderableStart(`Start\n${marker.repeat(5000)}`), '')
  })
}

for (const [name, text] of [
  ['one line', '*_'.repeat(5000)],
  ['many lines', '~a\n'.repeat(5000)],
]) {
  test(`a paragraph of emphasis without end on ${name} is not rendered`, () => {
    assert.equal(renderableStart(`Start\n\n${text}`), '')
  })
}

test('emphasis of many paragraphs is rendered', () => {
  const text = `${'**a** _b_ '.repeat(50)}\n\n`.repeat(20)
  assert.equal(renderableStart(text), text)
})

test('what looks like markers is searched in a moment', () => {
  const started = performance.now()
  for (const text of [' '.repeat(60_000), '1'.repeat(60_000), `${'>'.repeat(39)}x\n`.repeat(1500)])
    renderableStart(text)
  assert.ok(performance.now() - started < 1000)
})
