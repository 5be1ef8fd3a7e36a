import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Column, renderTable } from '../src/lists/table.ts'

type Row = { id: string; severity: string; title: string | null }

const COLUMNS: Column<Row>[] = [
  { heading: 'ID', text: ({ id }) => id },
  { heading: 'SEVERITY', text: ({ severity }) => severity, isSeverity: true },
  { heading: 'TITLE', text: ({ title }) => title, isFlexible: true },
]
const ROWS: Row[] = [
  { id: 'a', severity: 'high', title: 'A title that is longer than the terminal is wide' },
  { id: 'bbb', severity: 'low', title: null },
]

test('without a terminal, nothing is cut or coloured', () => {
  assert.equal(
    renderTable(COLUMNS, ROWS, { width: null, hasColours: false }),
    'ID   SEVERITY  TITLE\na    high      A title that is longer than the terminal is wide\nbbb  low',
  )
})

test('flexible columns are cut to the width of the terminal', () => {
  assert.equal(
    renderTable(COLUMNS, ROWS, { width: 40, hasColours: false }),
    'ID   SEVERITY  TITLE\na    high      A title that is longer t…\nbbb  low',
  )
})

test('optional columns are left out of a narrow terminal, the last first, and lines are cut as a last resort', () => {
  const columns: Column<Row>[] = [
    ...COLUMNS.slice(0, 2),
    { heading: 'ONE', text: () => 'first', isOptional: true },
    { heading: 'TWO', text: () => 'second', isOptional: true },
    ...COLUMNS.slice(2),
  ]
  const headings = (width: number) => renderTable(columns, ROWS, { width, hasColours: true }).split('\n')[0]
  assert.equal(headings(80), 'ID   SEVERITY  ONE    TWO     TITLE')
  assert.equal(headings(35), 'ID   SEVERITY  ONE    TITLE')
  assert.equal(headings(25), 'ID   SEVERITY  TITLE')
  assert.equal(headings(8), 'ID   SE…')
})

test('only the severity is coloured', () => {
  const lines = renderTable(COLUMNS, ROWS, { width: 80, hasColours: true }).split('\n')
  assert.equal(lines[0], 'ID   SEVERITY  TITLE')
  assert.ok(lines[1]?.startsWith('a    \u001b[31mhigh\u001b[0m      A title'))
  assert.equal(lines[2], 'bbb  \u001b[36mlow\u001b[0m')
})

test('control characters of a title do not reach the terminal', () => {
  const rows = [{ id: 'a', severity: 'x\u001b[2J', title: 'two\nlines\u202e' }]
  const [, line] = renderTable(COLUMNS, rows, { width: 80, hasColours: true }).split('\n')
  assert.equal(line, 'a   x\\u001b[2J  two\\u000alines\\u202e')
})

test('no line is wider than the terminal, with wide and combining characters, too', () => {
  const title = fc.string({ unit: fc.constantFrom('a', '漢', '😀', 'e\u0301', ' '), maxLength: 60 })
  fc.assert(
    fc.property(fc.array(title, { minLength: 1 }), fc.integer({ min: 5, max: 120 }), (titles, width) => {
      const rows = titles.map((text) => ({ id: 'id', severity: 'low', title: text }))
      const plain = renderTable(COLUMNS, rows, { width, hasColours: false })
      const colours = renderTable(COLUMNS, rows, { width, hasColours: true })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of the colours
      assert.equal(colours.replace(/\u001b\[\d*m/g, ''), plain)
      for (const line of plain.split('\n')) {
        const columns = [...line.replace(/\u0301/g, '')].reduce((sum, one) => sum + (/[漢😀]/u.test(one) ? 2 : 1), 0)
        assert.ok(columns <= width, line)
      }
    }),
  )
})
