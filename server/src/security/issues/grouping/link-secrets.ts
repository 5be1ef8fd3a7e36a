import { groupBy, type Links } from './links.ts'
import { collectOverlappingRuns, computeColumnsBetween, getSpan, type Span, toColumns } from './spans.ts'

/** Joins findings of the same secret, and findings of secrets at overlapping lines. */
export function linkSecrets(links: Links): void {
  linkByText(links)
  linkByLines(links)
}

/** What a rule for code flags is a statement, which may be the same for different secrets. */
function linkByText(links: Links): void {
  const told = [...links.members.keys()].filter((index) => links.getFacts(index).kind === 'secret')
  for (const [context, same] of groupBy(told, (index) => links.getFacts(index).context)) {
    if (context === null) continue
    links.join(same, {
      code: 'same_secret',
      on: 'secret',
      value: null,
      getDetail: ({ path }) => `The same secret${path === null ? '' : `, in ${path}`}.`,
    })
  }
}

function linkByLines(links: Links): void {
  for (const [path, inFile] of groupBy(links.members.keys(), (index) => links.getFacts(index).path)) {
    if (path === null || inFile.length < 2) continue
    const spans = inFile.flatMap((index) => getSpan(links.getFacts(index), index) ?? [])
    for (const run of collectOverlappingRuns(spansInColumns(links, spans))) {
      links.join(run, {
        code: 'same_secret',
        on: 'secret_and_lines',
        value: null,
        getDetail: () => `Secrets at overlapping lines of ${path}.`,
      })
    }
  }
}

/**
 * The columns count only at lines where a report tells several secrets apart: scanners flag
 * different parts of a statement, such as the name or the value of a password.
 */
function spansInColumns(links: Links, spans: readonly Span[]): Span[] {
  const crowded = new Set<number>()
  for (const ofStream of groupBy(spans, ({ index }) => links.getFacts(index).stream_id).values()) {
    for (const [line, atLine] of groupBy(ofStream, ({ from }) => from)) {
      if (areApart(atLine)) crowded.add(line)
    }
  }
  return spans.map((span) => toColumns(crowded.has(span.from) ? span : { ...span, columns: null }))
}

/** Whether any two of the spans at a line do not overlap. */
function areApart(spans: readonly Span[]): boolean {
  const sorted = spans.filter(({ columns }) => columns !== null).sort((a, b) => getStart(a) - getStart(b))
  return sorted.some((span, index) => index > 0 && computeColumnsBetween(sorted[index - 1] as Span, span) > 0)
}

function getStart({ columns }: Span): number {
  return columns?.from ?? 0
}
