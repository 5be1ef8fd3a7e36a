import type { Bar, Result } from './benchmark.ts'
import type { Machine } from './machine.ts'

export type Report = { date: string; machine: Machine; results: Result[] }

const HEADING = ['Benchmark', 'Shiplock', 'Bare', 'Ratio', 'Rounds', 'Bar', 'Met']

export function toTable(results: Result[]): string {
  return markdownTable([HEADING, ...results.map(toRow)])
}

/** A table as Markdown, which reads well on a terminal too. The first row is the heading. */
export function markdownTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`)
  return lines.join('\n')
}

export function toMarkdown({ date, machine, results }: Report): string {
  const { cores, processor, memoryGiB, node, postgres } = machine
  return `# Benchmarks

Written by \`npm run bench\` on ${date}: ${cores} cores (${processor}), ${memoryGiB} GiB, Node ${node}, PostgreSQL ${postgres}
with the durable settings, everything on this one machine. Medians; the ratio is the median of the rounds' own ratios
(Shiplock by bare), with the lowest and the highest beside it.

${toTable(results)}

${results.map(({ name, about }) => `- ${name}: ${about}`).join('\n')}
`
}

function toRow({ name, unit, ours, bare, ratio, rounds, bar, ok }: Result): string[] {
  const ratios = rounds.map((round) => round.ours / round.bare)
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  const met = ok === null ? '' : ok ? 'yes' : 'no'
  return [name, figure(ours, unit), figure(bare, unit), ratio.toFixed(2), spread, describeBar(bar, unit), met]
}

function figure(value: number, unit: string): string {
  return `${value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0)} ${unit}`
}

function describeBar(bar: Bar | null, unit: string): string {
  if (!bar) return ''
  const limit = bar.atLeast === undefined ? `at most ${bar.atMost}` : `at least ${bar.atLeast}`
  return bar.of === 'ratio' ? `ratio ${limit}` : `${limit} ${unit}`
}
