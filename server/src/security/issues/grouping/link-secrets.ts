import { groupBy, type Links } from './links.ts'
import { inColumns, overlappingRuns, spanOf } from './spans.ts'

/** Joins findings of the same secret, and findings of secrets at overlapping lines. */
export function linkSecrets(links: Links): void {
  linkByText(links)
  linkByLines(links)
}

/** What a rule for code flags is a statement, which may be the same for different secrets. */
function linkByText(links: Links): void {
  const told = [...links.members.keys()].filter((index) => links.factsOf(index).kind === 'secret')
  for (const [context, same] of groupBy(told, (index) => links.factsOf(index).context)) {
    if (context === null) continue
    links.join(same, {
      code: 'same_secret',
      on: 'secret',
      value: null,
      detailOf: ({ path }) => `The same secret${path === null ? '' : `, in ${path}`}.`,
    })
  }
}

/** Several secrets may be at one line, which the columns tell apart if all tools state them. */
function linkByLines(links: Links): void {
  for (const [path, inFile] of groupBy(links.members.keys(), (index) => links.factsOf(index).path)) {
    if (path === null || inFile.length < 2) continue
    const spans = inFile.flatMap((index) => spanOf(links.factsOf(index), index) ?? [])
    for (const run of overlappingRuns(spans.map(inColumns))) {
      links.join(run, {
        code: 'same_secret',
        on: 'secret_and_lines',
        value: null,
        detailOf: () => `Secrets at overlapping lines of ${path}.`,
      })
    }
  }
}
