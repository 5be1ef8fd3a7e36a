import { groupBy, type Links } from './links.ts'
import { overlappingRuns, spanOf } from './spans.ts'

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

function linkByLines(links: Links): void {
  for (const [path, inFile] of groupBy(links.members.keys(), (index) => links.factsOf(index).path)) {
    if (path === null || inFile.length < 2) continue
    for (const run of overlappingRuns(inFile.flatMap((index) => spanOf(links.factsOf(index), index) ?? []))) {
      links.join(run, {
        code: 'same_secret',
        on: 'secret_and_lines',
        value: null,
        detailOf: () => `Secrets at overlapping lines of ${path}.`,
      })
    }
  }
}
